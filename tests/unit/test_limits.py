"""Limits: loose in, exact out."""

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belljar.errors import PolicyError
from belljar.limits import LIMIT_NAMES, Limits, LimitsDict, LimitsInput

TIMES = ("wall", "cpu", "grace")
SIZES = ("memory", "disk", "output")
COUNTS = ("processes", "files", "open_files")
CPUS = ("cpus",)


def test_defaults() -> None:
    assert Limits().to_dict() == {
        "wall": 30.0,
        "cpu": None,
        "cpus": None,
        "memory": 512 << 20,
        "processes": 64,
        "disk": 64 << 20,
        "files": 4096,
        "open_files": 1024,
        "output": 1 << 20,
        "grace": 2.0,
    }


def test_names_agree() -> None:
    assert set(LIMIT_NAMES) == {*TIMES, *CPUS, *SIZES, *COUNTS}
    assert tuple(LimitsDict.__annotations__) == LIMIT_NAMES == tuple(LimitsInput.__annotations__)


@pytest.mark.parametrize(
    ("names", "value", "expected"), [(TIMES, "2m", 120.0), (SIZES, "1.5K", 1536), (COUNTS, "7", 7), (CPUS, "1.5", 1.5)]
)
def test_each_field_is_read(names: Any, value: Any, expected: Any) -> None:
    for name in names:
        limits = Limits.from_dict({name: value})
        assert getattr(limits, name) == expected
        assert type(getattr(limits, name)) is type(expected)
        others = [other for other in LIMIT_NAMES if other != name]
        assert [getattr(limits, other) for other in others] == [getattr(Limits(), other) for other in others]


@pytest.mark.parametrize("name", LIMIT_NAMES)
@pytest.mark.parametrize("value", [0, -1, "12Q", True, "", [], float("nan")])
def test_error_names_the_field(name: Any, value: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        Limits.from_dict({name: value})
    assert caught.value.field == f"limits.{name}"


@pytest.mark.parametrize("name", [name for name in LIMIT_NAMES if name not in ("cpu", "cpus")])
def test_only_cpu_may_be_none(name: Any) -> None:
    assert Limits.from_dict({"cpu": None, "cpus": None}) == Limits()
    with pytest.raises(PolicyError):
        Limits.from_dict({name: None})


@pytest.mark.parametrize("make", [Limits.from_dict, lambda data: Limits().replace(**data)], ids=["from", "replace"])
def test_unknown_name(make: Any) -> None:
    with pytest.raises(PolicyError, match=r"has no 'memry': it takes wall, cpu, cpus, memory, .*Did you mean 'memory'"):
        make({"memry": 1})


@pytest.mark.parametrize("data", [None, [], "memory", 5])
def test_not_a_mapping(data: Any) -> None:
    with pytest.raises(PolicyError, match="a mapping"):
        Limits.from_dict(data)


def test_constructor_is_keyword_only_and_frozen() -> None:
    with pytest.raises(TypeError):
        Limits("1s")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="memry"):
        Limits(memry=1)  # type: ignore[call-arg]
    with pytest.raises(dataclasses.FrozenInstanceError):
        Limits().wall = 1.0  # type: ignore[misc]


many = st.builds(
    Limits,
    wall=st.floats(1e-6, 1e9),
    cpu=st.none() | st.floats(1e-6, 1e9),
    cpus=st.none() | st.floats(1e-3, 1024),
    memory=st.integers(1, 2**63 - 1),
    processes=st.integers(1, 2**31 - 1),
    output=st.integers(1, 1000).map(lambda n: f"{n}K"),
)


@given(many)
def test_round_trips(limits: Any) -> None:
    assert Limits.from_dict(json.loads(json.dumps(limits.to_dict()))) == limits
    for again in (pickle.loads(pickle.dumps(limits)), copy.deepcopy(limits), limits.replace()):
        assert again == limits
        assert hash(again) == hash(limits)


def test_replace() -> None:
    limits = Limits(memory="1G").replace(wall="5s")
    assert limits == Limits(memory="1G", wall=5)
    assert dataclasses.replace(limits, wall=6).wall == 6.0
    assert limits.wall == 5.0
