"""The report of layers."""

import itertools
import json
import pickle
from typing import Any

import pytest

from belljar.errors import UsageError
from belljar.report import Layer, LayerState, Level, Report

REPORT = Report(
    level=Level.ROOTLESS,
    layers=(
        Layer(name="memory", state=LayerState.BEST_EFFORT, by="rlimits", detail="no writable cgroup"),
        Layer(name="network", state=LayerState.ENFORCED, by="namespace"),
    ),
)


def test_levels_from_weak_to_strong() -> None:
    assert [level.value for level in Level] == ["none", "reduced", "rootless", "full"]
    for (i, weak), (j, strong) in itertools.product(enumerate(Level), repeat=2):
        assert strong.at_least(weak) is (j >= i)


def test_layer_by_name() -> None:
    assert REPORT.layer("network").by == "namespace"
    with pytest.raises(UsageError, match=r"has no 'memroy': it takes memory, network\. Did you mean 'memory'"):
        REPORT.layer("memroy")


def test_round_trips() -> None:
    assert Report.from_dict(json.loads(json.dumps(REPORT.to_dict()))) == REPORT
    assert Layer.from_dict(REPORT.layers[0].to_dict()) == REPORT.layers[0]
    again = Report.from_dict(REPORT.to_dict())
    assert type(again.level) is Level
    assert type(again.layers[0].state) is LayerState
    assert pickle.loads(pickle.dumps(REPORT)) == REPORT


def test_json_form() -> None:
    assert REPORT.to_dict() == {
        "level": "rootless",
        "layers": [
            {"name": "memory", "state": "best_effort", "by": "rlimits", "detail": "no writable cgroup"},
            {"name": "network", "state": "enforced", "by": "namespace", "detail": ""},
        ],
    }
    assert type(REPORT.to_dict()["level"]) is str


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"level": "strong"}, "report.level"),
        ({"layers": None}, "report.layers"),
        ({"more": 1}, "report.more"),
        ({"layers": [{"name": "a", "state": "on", "by": "", "detail": ""}]}, "report.layers[0].state"),
        ({"layers": [{"name": "a"}]}, "report.layers[0].state"),
    ],
)
def test_wrong_form(change: Any, field: Any) -> None:
    with pytest.raises(UsageError) as caught:
        Report.from_dict({**REPORT.to_dict(), **change})
    assert caught.value.field == field
