"""Which layers of isolation were really active."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias, TypedDict

from belljar.errors import UsageError
from belljar.quantities import conform

LevelName: TypeAlias = Literal["none", "reduced", "rootless", "full"]
StateName: TypeAlias = Literal["enforced", "best_effort", "missing"]


class Level(StrEnum):
    """How strong the walls are, from weak to strong."""

    NONE = "none"
    REDUCED = "reduced"
    ROOTLESS = "rootless"
    FULL = "full"

    def at_least(self, other: "Level") -> bool:
        """Whether this level is as strong as the other. (`>=` would compare the words.)"""
        return _LADDER.index(self) >= _LADDER.index(other)


_LADDER = tuple(Level)


class LayerState(StrEnum):
    """Whether a layer holds."""

    ENFORCED = "enforced"
    BEST_EFFORT = "best_effort"
    MISSING = "missing"


class LayerDict(TypedDict):
    """One layer of isolation, what enforced it, and why not if it is missing."""

    name: str
    state: StateName
    by: str
    detail: str


class ReportDict(TypedDict):
    """The level of a run, and its layers."""

    level: LevelName
    layers: list[LayerDict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer: `by` names the mechanism ("cgroup v2"), `detail` says why where that is worth saying."""

    name: str
    state: LayerState
    by: str
    detail: str = ""

    def to_dict(self) -> LayerDict:
        """The JSON form."""
        return {"name": self.name, "state": self.state.value, "by": self.by, "detail": self.detail}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, path: str = "layer") -> "Layer":
        """The layer from its JSON form."""
        form = conform(LayerDict, data, path)
        state = LayerState(form["state"])
        return cls(name=form["name"], state=state, by=form["by"], detail=form["detail"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was enforced for a run."""

    level: Level
    layers: tuple[Layer, ...] = ()

    def layer(self, name: str) -> Layer:
        """The layer of that name."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise UsageError.unknown("report", name, [layer.name for layer in self.layers])

    def to_dict(self) -> ReportDict:
        """The JSON form."""
        return {"level": self.level.value, "layers": [layer.to_dict() for layer in self.layers]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, path: str = "report") -> "Report":
        """The report from its JSON form."""
        form = conform(ReportDict, data, path)
        layers = tuple(Layer.from_dict(layer) for layer in form["layers"])
        return cls(level=Level(form["level"]), layers=layers)
