"""Lets in as many runs at a time as agreed; the others wait their turn, in threads and loops alike."""

import os
from collections import deque
from threading import Lock

from belljar.waits import Waits


class Gate:
    """A fair semaphore whose waiters wait on descriptors."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._queue: deque[int] = deque()
        self._lock = Lock()

    async def enter(self, waits: Waits) -> None:
        """Take a place, or wait in line for one."""
        with self._lock:
            if self._room > 0 and not self._queue:
                self._room -= 1
                return
            turn = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            self._queue.append(turn)
        called = False
        try:
            called = bool(await waits.ready([turn]))
        finally:
            with self._lock:
                waiting = turn in self._queue
                if waiting:
                    self._queue.remove(turn)
            os.close(turn)
            if not called and not waiting:
                self.leave()  # the place was ours already when the wait was given up

    def leave(self) -> None:
        """Give the place to the next in line."""
        with self._lock:
            if self._queue:
                os.eventfd_write(self._queue.popleft(), 1)
            else:
                self._room += 1
