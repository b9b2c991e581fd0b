"""What ends the command before its time: Ctrl+C and SIGTERM, and a reader of our output who leaves."""

from __future__ import annotations

import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Cancelled(BaseException):
    """Somebody wants the command to end. No `except Exception` on the way stops it."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.exit_code = 128 + signum


class OutputClosed(BaseException):
    """Nobody reads our output any more, as behind `head`. Not an OSError: no `except` on the way is meant for it."""


def cancel_on_signals() -> None:
    """Raise `Cancelled` in the main thread at the first signal; one that is ignored stays so (`nohup`, `&`)."""
    for signum in _SIGNALS:
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, _cancel)


def ignore_signals() -> None:
    """From here on the end takes its course."""
    for signum in _SIGNALS:
        signal.signal(signum, signal.SIG_IGN)


def _cancel(signum: int, _frame: object) -> None:
    ignore_signals()  # a second signal must not disturb what the first one has begun
    raise Cancelled(signum)
