"""What a run used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from belljar.quantities import conform


class UsageDict(TypedDict):
    """What a run used: seconds, bytes and counts; null where this host cannot tell."""

    wall: float
    setup: float
    cpu_user: float
    cpu_system: float
    memory_peak: int | None
    processes_peak: int | None
    disk_bytes: int | None
    output_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run used: seconds, bytes and counts; None where this host cannot tell.

    `setup` is the time before user code, `wall` the time of user code.
    """

    wall: float = 0.0
    setup: float = 0.0
    cpu_user: float = 0.0
    cpu_system: float = 0.0
    memory_peak: int | None = None
    processes_peak: int | None = None
    disk_bytes: int | None = None
    output_bytes: int = 0

    def to_dict(self) -> UsageDict:
        """The JSON form."""
        return {
            "wall": self.wall,
            "setup": self.setup,
            "cpu_user": self.cpu_user,
            "cpu_system": self.cpu_system,
            "memory_peak": self.memory_peak,
            "processes_peak": self.processes_peak,
            "disk_bytes": self.disk_bytes,
            "output_bytes": self.output_bytes,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, path: str = "usage") -> "Usage":
        """The usage from its JSON form."""
        form = conform(UsageDict, data, path)
        return cls(
            wall=float(form["wall"]),
            setup=float(form["setup"]),
            cpu_user=float(form["cpu_user"]),
            cpu_system=float(form["cpu_system"]),
            memory_peak=form["memory_peak"],
            processes_peak=form["processes_peak"],
            disk_bytes=form["disk_bytes"],
            output_bytes=form["output_bytes"],
        )
