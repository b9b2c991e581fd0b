"""The backend of a run: begun before the command line is read, and its delay shown when it is long.

The keeper is a process of its own and takes some 50 ms to come up, and so does the import of typer. So the words are
first searched for what the keeper depends on. That is a guess (`-c --python` would mislead it): it is used only when
typer, which decides, has read the same.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from belljar.backends.registry import DEFAULT, backend_class
from belljar.errors import BelljarError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

    @classmethod
    def guess(cls, words: Sequence[str]) -> KeeperOptions:
        """The options among the words of a command line, as far as one can see without knowing the others."""
        found = cls()
        rest = iter(words)
        for word in rest:
            if word == "--":
                break
            name, equals, value = word.partition("=")
            if name in ("--backend", "--python", "--preload"):
                value = value if equals else next(rest, "")
                if name == "--preload":
                    found.preload.append(value)
                else:
                    setattr(found, name[2:], value)
        return found

    def make(self) -> Backend:
        """The backend."""
        make = backend_class(self.backend or DEFAULT)
        return make(preload=self.preload, python=self.python and _interpreter(self.python))


@dataclass
class HeadStart:
    """A backend whose keeper is on its way."""

    options: KeeperOptions
    backend: Backend

    def backend_for(self, options: KeeperOptions) -> Backend | None:
        """The backend, if it is what was asked for; else it is given up."""
        if options == self.options:
            return self.backend
        self.backend.close()
        return None


def head_start_for(words: Sequence[str]) -> HeadStart | None:
    """Start the keeper that this command line seems to need."""
    options = KeeperOptions.guess(words)
    try:
        return HeadStart(options, options.make())
    except BelljarError:
        return None  # if it was no wrong guess, the command itself will meet it again


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
