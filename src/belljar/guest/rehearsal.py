"""A trivial program, run through the whole path before the real one comes.

A forked process pays for each page that it is the first to write. The zygote rehearses so that nothing is done for the
first time in a cell (imports on demand, bytecode that specialises itself), a parked cell so that the pages of a run are
its own already. Nothing of it is to be seen by the program: tests/unit/test_rehearsal.py.
"""

import json
import linecache
import os
import signal
import socket
import struct
import sys

from belljar.guest import stdio
from belljar.guest.channel import Channel

_NAME = "rehearsal.py"
_PROGRAM = """
class A:
    b = 1

def f(n):
    try:
        return [str(i) for i in range(n)] + [f"{n:.1f}", A().b, {"n": n}]
    except ValueError:
        raise

print("f", f(3), file=None)
f(2)
"""
# What else a program is likely to do, when these are preloaded.
_PACKAGES = {
    "numpy": "import numpy\na = numpy.arange(10.0)\nprint((a * 2).sum(), a.reshape(2, 5) @ a[:5], a.astype(int))",
    "pandas": "import pandas\nd = pandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\n"
    "print(d, int(d.a.sum()), d.groupby('b').a.mean(), d[d.a > 1].to_dict())",
}


def rehearse(place: str, times: int = 1) -> None:
    """Run it, with a file in the directory `place`, and leave everything as it was."""
    source = "\n".join([_PROGRAM, *(text for name, text in _PACKAGES.items() if name in sys.modules)])
    before = sys.modules["__main__"], sys.argv[:], sys.path[:]
    streams = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
    handler = signal.getsignal(signal.SIGINT)
    real = [os.dup(fd) for fd in (1, 2)]
    read, write = os.pipe()
    try:
        for fd in (1, 2):
            os.dup2(write, fd)
        for _ in range(times):
            stdio.install()
            _run(source.encode(), place)
            os.read(read, 1 << 16)
    finally:
        for fd, own in zip((1, 2), real, strict=True):
            os.dup2(own, fd)
        for fd in (read, write, *real):
            os.close(fd)
        sys.modules["__main__"], sys.argv[:], sys.path[:] = before
        linecache.cache.pop(_NAME, None)
        signal.signal(signal.SIGINT, handler)
        for name, stream in streams.items():
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _run(source: bytes, place: str) -> None:
    from belljar.guest.worker import serve  # it rehearses, and so knows this module

    header = {
        "n": "0" * 16,
        "kind": "run",
        "filename": _NAME,
        "source": len(source),
        "files": [],
        "args": [],
        "env": {},
        "rlimits": {},
        "cpus": None,
    }
    text = json.dumps(header).encode()
    here, there = socket.socketpair()
    with there:
        there.sendall(struct.pack(">I", len(text)) + text + source)
        channel = Channel(here.detach())
        serve(channel, place)
        channel.close()
    os.unlink(os.path.join(place, _NAME))
    sys.modules["__main__"].__dict__.clear()
