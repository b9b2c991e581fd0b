"""Control groups, for real, of the generation that this machine has."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, cast

import pytest
from tests.needs import need

from belljar.linux.cgroup import Group, Tree, probe

Start = Callable[[str], "Popen[bytes]"]


@pytest.fixture
def tree() -> Iterator[Tree]:
    need("cgroup")
    found = probe()
    assert not isinstance(found, str)
    yield found
    assert found.remove(), f"{found.place} is left"


@pytest.fixture
def group(tree: Tree) -> Iterator[Group]:
    made = tree.make_group("cell")
    yield made
    assert made.kill()
    assert made.remove()


@pytest.fixture
def start(group: Group) -> Iterator[Start]:
    """Runs code in the group: it waits until it is there."""
    started: list[Popen[bytes]] = []

    def run(code: str) -> Popen[bytes]:
        process = Popen([sys.executable, "-c", "input()\n" + code], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        started.append(process)
        group.attach(process.pid)
        assert process.pid in group.pids()
        cast(IO[bytes], process.stdin).write(b"\n")
        cast(IO[bytes], process.stdin).flush()
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def test_memory(group: Group, start: Start) -> None:
    group.limit(memory=32 << 20)
    assert start("x = b'x' * (128 << 20)").wait(30) == -signal.SIGKILL
    usage = group.usage()
    assert usage.oom_kills >= 1
    assert usage.memory_peak is None or 24 << 20 < usage.memory_peak <= 32 << 20


def test_memory_limit_goes_both_ways(group: Group, start: Start) -> None:
    for size in (32 << 20, 256 << 20, 32 << 20, 256 << 20):
        group.limit(memory=size)
    assert start("x = b'x' * (128 << 20)").wait(30) == 0


def test_processes(group: Group, start: Start) -> None:
    group.limit(processes=10)
    process = start(
        "import os, time\n"
        "try:\n    while True:\n        if os.fork() == 0: time.sleep(60)\n"
        "except OSError as error: print(error.errno, flush=True)\n"
        "time.sleep(60)"
    )
    assert cast(IO[bytes], process.stdout).readline() == b"11\n"
    usage = group.usage()
    assert usage.process_refusals >= 1
    assert usage.processes_peak in (None, 10)
    assert len(group.pids()) == 10
    assert group.kill()
    assert group.is_empty()


def test_cpu(tree: Tree, group: Group, start: Start) -> None:
    if any(reason.startswith("cpu") for reason in tree.missing):
        pytest.skip("needs the cpu controllers")
    group.limit(cpu_quota=0.2)
    process = start("while True: pass")
    time.sleep(1)
    used = sum(group.cpu_time() or ())
    process.kill()
    assert 0.05 < used < 0.6


def test_kill_of_a_tree_that_forks(group: Group, start: Start) -> None:
    group.limit(processes=60, memory=512 << 20)
    start(
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True:\n"
        "    try:\n"
        "        if os.fork() == 0: os.setsid()\n"
        "    except OSError: time.sleep(0.001)"
    )
    time.sleep(0.5)
    assert len(group.pids()) > 5
    assert group.kill()
    assert group.is_empty()


def test_attach_is_refused_for_who_is_gone(group: Group) -> None:
    with pytest.raises(OSError, match="No such process"):
        group.attach(2**22 - 1)


def test_a_group_in_use_is_not_removed(group: Group, start: Start) -> None:
    start("import time; time.sleep(60)")
    assert not group.remove(within=0.05)
    assert not group.is_empty()


def test_keepers_do_not_meet(tree: Tree) -> None:
    other = probe()
    assert not isinstance(other, str)
    assert os.path.dirname(other.place) == os.path.dirname(tree.place)
    assert other.place != tree.place
    assert other.remove()
    assert os.path.isdir(tree.place)
