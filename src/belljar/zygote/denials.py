"""Counts what the filter of a worker refuses, and gives the answers that the filter would have given."""

import errno
import time

from belljar.linux import seccomp

_FREE = 1_000  # refusals that are answered at once
_PAUSE = 0.001  # seconds before each answer after them: the one who waits is who has asked, and nobody else is slowed


class Denials:
    """The refusals of one worker."""

    def __init__(self, listener: int, known: dict[int, tuple[str, int]]) -> None:
        self.listener = listener
        self.counts: dict[str, int] = {}
        self._known = known
        self._answered = 0

    def answer(self) -> None:
        """Count and answer one refusal that waits."""
        found = seccomp.next_refusal(self.listener)
        if found is None:
            return
        notification, number = found
        name, code = self._known.get(number, (f"call {number}", errno.ENOSYS))
        self.counts[name] = self.counts.get(name, 0) + 1
        self._answered += 1
        if self._answered > _FREE:
            time.sleep(_PAUSE)
        seccomp.refuse(self.listener, notification, code)
