"""What `stream` yields while a run goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from belljar.output import Stream
    from belljar.result import Result


@dataclass(frozen=True, slots=True)
class Output:
    """Something was printed. `text` never splits a character: the rest of one comes with the next event."""

    stream: Stream
    text: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the run uses at this moment; only where it was asked for."""

    wall: float
    cpu: float
    memory: int
    processes: int
    output_bytes: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over; always the last event."""

    result: Result


Event: TypeAlias = Output | Sample | Finished
