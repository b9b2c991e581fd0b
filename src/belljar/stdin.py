"""Where a run's standard input comes from: bytes, text, files and iterators, as one thing to read without blocking."""

from __future__ import annotations

import fcntl
import os
import select
import stat
import threading
from collections.abc import AsyncIterable, Iterable
from typing import TYPE_CHECKING, Any

from belljar.errors import UsageError

if TYPE_CHECKING:
    from belljar.request import Stdin

_BLOCK = 1 << 16


class Source:
    """Bytes for stdin. `fd`, when there is one, is to be waited for before `read` is called."""

    fd: int | None = None

    def read(self) -> bytes:
        """The next bytes, empty at the end."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing more is wanted."""


class _Bytes(Source):
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self) -> bytes:
        data, self._data = self._data, b""
        return data


class _File(Source):
    """A file object of the caller's. One with a descriptor that can be waited for is read when it has something."""

    def __init__(self, file: Any) -> None:
        if hasattr(file, "readable") and not file.readable():
            raise UsageError.about("stdin", file, "a file that is open for reading")
        self._file = file
        try:
            fd = file.fileno()
        except (AttributeError, OSError):
            return  # in memory: always ready
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            self.fd = fd

    def read(self) -> bytes:
        if self.fd is not None:
            return os.read(self.fd, _BLOCK)
        return to_bytes(self._file.read(_BLOCK))


class _Iterator(Source):
    """A sync iterator may block for as long as it likes: a thread of its own pulls it, into a pipe."""

    def __init__(self, items: Iterable[bytes | str]) -> None:
        self.fd, self._inlet = os.pipe()
        threading.Thread(target=self._pull, args=(items,), name="belljar-stdin", daemon=True).start()

    def read(self) -> bytes:
        assert self.fd is not None
        return os.read(self.fd, _BLOCK)

    def close(self) -> None:
        assert self.fd is not None
        os.close(self.fd)

    def _pull(self, items: Iterable[bytes | str]) -> None:
        poll = select.poll()
        poll.register(self._inlet, 0)  # which tells of errors only: that nobody reads any more
        try:
            for item in items:
                data = memoryview(to_bytes(item))
                while data:
                    data = data[os.write(self._inlet, data) :]
                if poll.poll(0):
                    return  # the run is over, which an empty item would never notice
        except BrokenPipeError:
            pass  # the same
        finally:
            os.close(self._inlet)


class _AsyncIterator(Source):
    """An async iterator is pulled by a task of the running loop, into a pipe."""

    def __init__(self, items: AsyncIterable[bytes | str]) -> None:
        import asyncio

        self.fd, self._inlet = os.pipe()
        fcntl.fcntl(self._inlet, fcntl.F_SETFL, os.O_NONBLOCK)
        self._task = asyncio.get_running_loop().create_task(self._pull(items))

    def read(self) -> bytes:
        assert self.fd is not None
        return os.read(self.fd, _BLOCK)

    def close(self) -> None:
        assert self.fd is not None
        os.close(self.fd)
        self._task.cancel()

    async def _pull(self, items: AsyncIterable[bytes | str]) -> None:
        from belljar.waits import LoopWaits

        waits = LoopWaits()
        try:
            async for item in items:
                data = memoryview(to_bytes(item))
                while data:
                    await waits.ready((), (self._inlet,))
                    data = data[os.write(self._inlet, data) :]
        except BrokenPipeError:
            pass  # the run is over
        finally:
            os.close(self._inlet)


def open_stdin(given: Stdin, *, in_loop: bool) -> Source | None:
    """What to feed to the run; None when nothing was given, which the run sees as an end at once."""
    if given is None:
        return None
    if isinstance(given, bytes | bytearray | memoryview | str):
        return _Bytes(to_bytes(given))
    if hasattr(given, "read"):
        return _File(given)
    if isinstance(given, AsyncIterable):
        if not in_loop:
            raise UsageError.about(
                "stdin", given, "bytes, str, a file or an iterator; an async iterator needs AsyncSandbox"
            )
        return _AsyncIterator(given)
    if isinstance(given, Iterable):
        return _Iterator(given)
    raise UsageError.about("stdin", given, "bytes, str, a file, or an iterator of bytes or str")


def to_bytes(data: Any) -> bytes:
    """Text as UTF-8, bytes as they are."""
    if isinstance(data, str):
        return data.encode("utf-8", "surrogateescape")
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise UsageError.about("stdin", data, "bytes or str in each part")
