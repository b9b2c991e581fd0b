"""The one way in which the engine waits: for descriptors and a moment, in a thread or in an asyncio loop."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine, Sequence

T = TypeVar("T")

_LONGEST = 1e6  # seconds: poll(2) takes no more than 24 days


class Waits(Protocol):
    """Waits for descriptors."""

    in_loop: bool

    async def ready(self, reads: Sequence[int], writes: Sequence[int] = (), until: float | None = None) -> list[int]:
        """The descriptors that can be read or written, or none when `time.monotonic()` has reached `until`."""
        ...


class ThreadWaits:
    """Polls in the calling thread, and so never suspends the coroutine."""

    in_loop = False

    def __init__(self) -> None:
        self._registered: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self._poll = select.poll()

    async def ready(self, reads: Sequence[int], writes: Sequence[int] = (), until: float | None = None) -> list[int]:
        wanted = tuple(reads), tuple(writes)
        if self._registered != wanted:
            self._registered = wanted
            self._poll = select.poll()
            for fd in reads:
                self._poll.register(fd, select.POLLIN)
            for fd in writes:
                self._poll.register(fd, select.POLLOUT)
        while True:
            left = None if until is None else max(0.0, until - time.monotonic())
            found = self._poll.poll(None if left is None else min(left, _LONGEST) * 1000)
            if found or left is None or left <= _LONGEST:
                return [fd for fd, _ in found]


class LoopWaits:
    """Registers with the running asyncio loop."""

    in_loop = True

    async def ready(self, reads: Sequence[int], writes: Sequence[int] = (), until: float | None = None) -> list[int]:
        import asyncio  # half of the time that a first run takes, where nobody else has imported it

        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()
        found: list[int] = []

        def wake(*ready: int) -> None:
            found.extend(ready)
            if not woken.done():
                woken.set_result(None)

        timer = None if until is None else loop.call_later(max(0.0, until - time.monotonic()), wake)
        try:
            for fds, add in ((reads, loop.add_reader), (writes, loop.add_writer)):
                for fd in fds:
                    try:
                        add(fd, wake, fd)
                    except PermissionError:
                        wake(fd)  # epoll takes no files and no /dev/null, which are ready at any time
            await woken
        finally:
            if timer is not None:
                timer.cancel()
            for fd in reads:
                loop.remove_reader(fd)
            for fd in writes:
                loop.remove_writer(fd)
        return found


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine whose waits are `ThreadWaits` to its end."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("an engine coroutine waited for something else than its waits")
