"""The backend of a run, started before all that only the run itself needs; its delay is shown when it is long."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belljar.backends.registry import DEFAULT, backend_class
from belljar.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from belljar.backends.base import Backend, Cell
    from belljar.plan import Plan
    from belljar.policy import Policy
    from belljar.waits import Waits

_PATIENCE = 2.0  # seconds
_MESSAGE, _ERASE = b"preparing ...", b"\r\x1b[K"


@dataclass
class KeeperOptions:
    """What the backend and its keeper depend on."""

    backend: str | None = None
    python: str | None = None
    preload: list[str] = field(default_factory=list)

    def make(self) -> Backend:
        """The backend."""
        make = backend_class(self.backend or DEFAULT)
        return make(preload=self.preload, python=self.python and _interpreter(self.python))


class PatientBackend:
    """A backend that says so on the terminal when a cell is long in coming."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.name = backend.name

    @property
    def closed(self) -> bool:
        return self._backend.closed

    def plan(self, policy: Policy) -> Plan:
        return self._backend.plan(policy)

    async def acquire(self, plan: Plan, waits: Waits) -> Cell:
        with _shown_when_long():
            return await self._backend.acquire(plan, waits)

    def close(self) -> None:
        self._backend.close()


@contextmanager
def _shown_when_long() -> Iterator[None]:
    """A line on a terminal, by a timer's signal: what is waited for goes on waiting."""
    if not os.isatty(2) or os.environ.get("TERM") == "dumb":
        yield
        return
    shown = False

    def show(_signum: int, _frame: object) -> None:
        nonlocal shown
        shown = True
        os.write(2, _MESSAGE)

    before = signal.signal(signal.SIGALRM, show)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if shown:
            os.write(2, _ERASE)


def _interpreter(name: str) -> str:
    if "/" in name:
        return name
    from shutil import which

    path = which(name)
    if path is None:
        raise UsageError.about("--python", name, "the path of a Python, or a name that is found on PATH")
    return path
