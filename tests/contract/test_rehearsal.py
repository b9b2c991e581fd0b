"""A parked cell has rehearsed, one that somebody waited for has not: no program can tell which of them it has got."""

import textwrap
import time

import pytest
from tests.needs import need

from belljar import Sandbox

STATE = textwrap.dedent(
    """
    import sys
    modules = sorted(sys.modules)
    import gc, linecache, os, resource, signal, threading, warnings
    here = os.path.dirname(os.path.abspath(__file__))
    state = {
        "modules": modules,
        "main": sorted(vars(sys.modules["__main__"])),
        "path": [entry.replace(here, "HERE") for entry in sys.path],
        "argv": sys.argv,
        "lines": sorted(linecache.cache),
        "signals": {str(number): str(signal.getsignal(number)) for number in range(1, 32)},
        "threads": [thread.name for thread in threading.enumerate()],
        "next thread": threading.Thread().name,
        "files": [sorted(os.listdir(".")), sorted(os.listdir(here))],
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "environment": {name: value.replace(here, "HERE") for name, value in os.environ.items()},
        "limits": [resource.getrlimit(which) for which in range(9)],
        "umask": os.umask(0o022),
        "streams": [
            [stream.name, stream.fileno(), stream.line_buffering, stream.isatty(), stream.closed, stream.mode]
            for stream in (sys.stdin, sys.stdout, sys.stderr)
        ],
        "same": [sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__, sys.stdin is sys.__stdin__],
        "warnings": len(warnings.filters),
        "collector": [gc.isenabled(), gc.get_threshold(), len(gc.garbage), gc.callbacks],
    }
    state
    """
)


@pytest.mark.parametrize("backend", ["local", "namespace"])
def test_a_rehearsal_leaves_no_trace(backend: str) -> None:
    need("local" if backend == "local" else "userns")
    with Sandbox(backend=backend, parked=0) as box:
        (as_it_is,) = {repr(box.run(STATE).value) for _ in range(2)}
    with Sandbox(backend=backend, parked=1) as box:
        found = set()
        for _ in range(4):
            result = box.run(STATE)
            assert result.ok, result.stderr
            found.add(repr(result.value))
            time.sleep(0.1)  # so that the next one finds a cell that has rehearsed
    assert found == {as_it_is}
    assert "rehearsal.py" not in as_it_is  # nor did the zygote leave one


@pytest.mark.parametrize("backend", ["local", "namespace"])
def test_each_cell_has_random_numbers_of_its_own(backend: str) -> None:
    need("local" if backend == "local" else "userns")
    with Sandbox(backend=backend, preload=["multiprocessing"]) as box:
        numbers = [box.run("import random; random.random()").value for _ in range(5)]
        keys = [box.run("import multiprocessing as m; m.current_process().authkey.hex()").value for _ in range(5)]
    assert len(set(numbers)) == len(set(keys)) == 5
