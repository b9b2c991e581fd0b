"""How much a run may use."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict, Unpack

from belljar.errors import PolicyError
from belljar.quantities import Count, Cpus, Size, Time, check_keys, parse_count, parse_cpus, parse_size, parse_time


class LimitsDict(TypedDict):
    """Limits as they were applied: seconds and bytes."""

    wall: float
    cpu: float | None
    cpus: float | None
    memory: int
    processes: int
    disk: int
    files: int
    open_files: int
    output: int
    grace: float


class LimitsInput(TypedDict, total=False):
    """Limits as they may be written: numbers, or strings with a unit (256M, 1.5s)."""

    wall: Time
    cpu: Time | None
    cpus: Cpus | None
    memory: Size
    processes: Count
    disk: Size
    files: Count
    open_files: Count
    output: Size
    grace: Time


@dataclass(frozen=True, slots=True, init=False)
class Limits:
    """How much a run may use: times in seconds, sizes in bytes.

    The constructor takes numbers, and strings like "256M" and "1.5s". `cpu` is time on the processors and `cpus` how
    many of them at a time: with None, only `wall` counts, and there are as many as the host has. `grace` is the time
    between the interrupt at the wall limit and the kill.
    """

    wall: float
    cpu: float | None
    cpus: float | None
    memory: int
    processes: int
    disk: int
    files: int
    open_files: int
    output: int
    grace: float

    def __init__(
        self,
        *,
        wall: Time = "30s",
        cpu: Time | None = None,
        cpus: Cpus | None = None,
        memory: Size = "512M",
        processes: Count = 64,
        disk: Size = "64M",
        files: Count = 4096,
        open_files: Count = 1024,
        output: Size = "1M",
        grace: Time = "2s",
    ) -> None:
        put = object.__setattr__
        put(self, "wall", parse_time("limits.wall", wall))
        put(self, "cpu", None if cpu is None else parse_time("limits.cpu", cpu))
        put(self, "cpus", None if cpus is None else parse_cpus("limits.cpus", cpus))
        put(self, "memory", parse_size("limits.memory", memory))
        put(self, "processes", parse_count("limits.processes", processes))
        put(self, "disk", parse_size("limits.disk", disk))
        put(self, "files", parse_count("limits.files", files))
        put(self, "open_files", parse_count("limits.open_files", open_files))
        put(self, "output", parse_size("limits.output", output))
        put(self, "grace", parse_time("limits.grace", grace))

    def replace(self, **changes: Unpack[LimitsInput]) -> "Limits":
        """These limits with some of them changed."""
        return Limits.from_dict({**self.to_dict(), **changes})

    def to_dict(self) -> LimitsDict:
        """The JSON form."""
        return {
            "wall": self.wall,
            "cpu": self.cpu,
            "cpus": self.cpus,
            "memory": self.memory,
            "processes": self.processes,
            "disk": self.disk,
            "files": self.files,
            "open_files": self.open_files,
            "output": self.output,
            "grace": self.grace,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Limits":
        """Limits from their JSON form, or from any part of it: what is missing has its default."""
        return cls(**check_keys("limits", data, LIMIT_NAMES, error=PolicyError))


LIMIT_NAMES: tuple[str, ...] = tuple(field.name for field in fields(Limits))
