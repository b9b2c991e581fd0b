"""sys.stdin, stdout and stderr of the program: real ones, with descriptors, live, and in order."""

import fcntl
import io
import sys
import termios
import time
from typing import Any, TypeVar

_PATIENCE = 1.0  # seconds that a run may spend in all on keeping its two streams in order
_PAUSE = 0.00002
_Raw = TypeVar("_Raw", bound=io.FileIO)


class _Pipe(io.FileIO):
    """The writing end of one stream, which lets the host read the other one first.

    With two pipes the host cannot tell which of two waiting writes was earlier. So the one that changes streams waits
    until the pipe of the stream before is empty.
    """

    last: "_Pipe | None" = None
    patience = _PATIENCE
    _waiting = bytearray(4)

    def write(self, data: Any, /) -> int:
        if _Pipe.last is not self:
            if _Pipe.last is not None:
                _Pipe.last._settle()
            _Pipe.last = self
        return super().write(data)

    def _settle(self) -> None:
        while _Pipe.patience > 0:
            try:
                fcntl.ioctl(self.fileno(), termios.FIONREAD, self._waiting)
            except (OSError, ValueError):
                return  # the program has closed or replaced it
            if not any(self._waiting):
                return
            began = time.monotonic()
            time.sleep(_PAUSE)
            _Pipe.patience -= time.monotonic() - began


class _Errors(_Pipe):
    """stderr writes at once; what stdout has in its buffer was said before."""

    def write(self, data: Any, /) -> int:
        try:
            sys.stdout.flush()
        except (AttributeError, OSError, RuntimeError, ValueError):
            pass  # replaced or closed by the program, or interrupted in the middle of a write of its own
        return super().write(data)


def install() -> None:
    """Give this process new standard streams on descriptors 0, 1 and 2."""
    _Pipe.last, _Pipe.patience = None, _PATIENCE
    stdin = io.BufferedReader(_named(io.FileIO(0, closefd=False), "<stdin>"))
    stdout = io.BufferedWriter(_named(_Pipe(1, "w", closefd=False), "<stdout>"))
    stderr: Any = _named(_Errors(2, "w", closefd=False), "<stderr>")
    streams = {
        "stdin": io.TextIOWrapper(stdin, "utf-8", "surrogateescape"),
        "stdout": io.TextIOWrapper(stdout, "utf-8", "surrogateescape", line_buffering=True),
        "stderr": io.TextIOWrapper(stderr, "utf-8", "backslashreplace", write_through=True),
    }
    for name, stream in streams.items():
        setattr(stream, "mode", "r" if name == "stdin" else "w")  # noqa: B010  read-only to type checkers
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _named(raw: _Raw, name: str) -> _Raw:
    raw.name = name
    return raw
