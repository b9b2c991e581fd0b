"""What a backend is, and what a cell of it can do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from belljar.files import Collection, Input
    from belljar.limits import Limits
    from belljar.output import Stream
    from belljar.plan import Plan
    from belljar.policy import Policy
    from belljar.report import Report
    from belljar.stdin import Source
    from belljar.waits import Waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What the guest is to do, as a language has made it from a request."""

    kind: str
    source: bytes
    filename: str
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    call: Mapping[str, Any] | None = None
    steps: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Printed:
    """Bytes have arrived on one of the two streams."""

    stream: Stream
    data: bytes


@dataclass(frozen=True, slots=True)
class Claimed:
    """The guest has said something: `started`, `rejected` or `answer`."""

    kind: str
    content: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Everything in the cell is dead, and these are the facts. `lost` when nobody can say how it ended.

    `stopped` is the limit that it was ended for, `hit` those that it reached without that.
    """

    lost: bool = False
    exit_code: int | None = None
    signal: int | None = None
    stopped: str | None = None
    hit: frozenset[str] = frozenset()
    denials: Mapping[str, int] = field(default_factory=dict)
    cpu_user: float = 0.0
    cpu_system: float = 0.0
    memory_peak: int | None = None
    processes_peak: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What the run uses at this moment, as `measure` had asked."""

    memory: int
    processes: int
    cpu: float


CellEvent: TypeAlias = Printed | Claimed | Measured | Ended


class Cell(Protocol):
    """The isolated place of one run."""

    @property
    def report(self) -> Report:
        """The layers that are active, as they were found to be, not as they were planned."""
        ...

    async def start(self, program: Program, limits: Limits, stdin: Source | None) -> None:
        """Hand over the program, its inputs first. From here on the clock runs."""
        ...

    async def event(self, until: float | None) -> CellEvent | None:
        """The next thing that happens, or None at the moment `until`. `Ended` comes last, after all output."""
        ...

    def interrupt(self) -> None:
        """Ask the program to stop (SIGINT)."""
        ...

    def measure(self) -> None:
        """Ask for a `Measured`; a cell that cannot tell sends none."""
        ...

    def kill(self) -> None:
        """End everything in the cell. `Ended` follows."""
        ...

    def collect(self, inputs: tuple[Input, ...], limits: Limits) -> Collection:
        """What the run left, after `Ended`."""
        ...

    def release(self) -> None:
        """Give the cell back: what is alive is killed, what is left is removed."""
        ...


class Backend(Protocol):
    """Provides cells."""

    name: str

    def plan(self, policy: Policy) -> Plan:
        """What will be applied, or a SetupError or Unsupported that says what cannot be."""
        ...

    async def acquire(self, plan: Plan, waits: Waits) -> Cell:
        """A cell for one run."""
        ...

    def close(self) -> None:
        """End all cells. Safe to call twice."""
        ...

    @property
    def closed(self) -> bool:
        """`close` was called: runs that end without a word were cancelled by it."""
        ...


def claims_of(packet: Mapping[str, Any]) -> Iterator[Claimed]:
    """The claims in one frame of the guest; unknown ones are dropped."""
    for kind in ("started", "rejected", "answer"):
        if kind in packet:
            yield Claimed(kind, packet[kind])
