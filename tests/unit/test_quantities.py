"""Sizes, times, counts, and what else comes from outside."""

import copy
import math
import pickle
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belljar.errors import PolicyError, UsageError
from belljar.quantities import (
    MAX_COUNT,
    MAX_SIZE,
    MAX_TIME,
    FrozenMap,
    check_choice,
    check_keys,
    conform,
    format_size,
    format_time,
    parse_count,
    parse_size,
    parse_time,
)

PARSERS = {parse_size: "512M", parse_time: "1.5s", parse_count: "64"}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (1, 1),
        (512.0, 512),
        ("512", 512),
        ("512B", 512),
        ("64k", 64 * 1024),
        ("64K", 64 * 1024),
        ("256M", 256 << 20),
        ("256mb", 256 << 20),
        ("1.5G", 3 << 29),
        ("1GiB", 1 << 30),
        ("2 TiB", 2 << 40),
        (" 1k ", 1024),
        (MAX_SIZE, MAX_SIZE),
    ],
)
def test_size(value: Any, size: Any) -> None:
    parsed = parse_size("limits.memory", value)
    assert parsed == size
    assert type(parsed) is int


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (2, 2.0),
        (0.5, 0.5),
        ("30", 30.0),
        ("1.5s", 1.5),
        ("200ms", 0.2),
        ("2m", 120.0),
        ("1H", 3600.0),
        ("1d", 86400.0),
        ("0.1 s", 0.1),
        (MAX_TIME, MAX_TIME),
    ],
)
def test_time(value: Any, time: Any) -> None:
    parsed = parse_time("limits.wall", value)
    assert parsed == time
    assert type(parsed) is float


@pytest.mark.parametrize(("value", "count"), [(1, 1), ("64", 64), (" 7 ", 7), (MAX_COUNT, MAX_COUNT)])
def test_count(value: Any, count: Any) -> None:
    assert parse_count("limits.processes", value) == count


NEVER: list[Any] = [
    0,
    -1,
    0.0,
    -0.5,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    None,
    "",
    " ",
    "0",
    "-1",
    "+1",
    "1e3",
    "0x10",
    "1_000",
    "1,5",
    "1.5.5",
    ".5",
    "5.",
    "12Q",
    "M",
    "nan",
    "inf",
    "True",
    "\u0663",
    "1K\u0131B",
    "1" * 41,
    b"1",
    [1],
    {},
    1j,
    10**5000,
]


@pytest.mark.parametrize("parse", PARSERS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("value", NEVER, ids=lambda v: type(v).__name__)
def test_refused_by_all(parse: Any, value: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        parse("limits.x", value)
    assert caught.value.field == "limits.x"
    assert str(caught.value).startswith("`limits.x` is ")
    assert PARSERS[parse] in str(caught.value)


@pytest.mark.parametrize(
    ("parse", "value"),
    [
        (parse_size, 1.5),
        (parse_size, "1.5"),
        (parse_size, "0.3K"),
        (parse_size, "1P"),
        (parse_size, "1iB"),
        (parse_size, "5s"),
        (parse_size, MAX_SIZE + 1),
        (parse_size, 2.0**63),
        (parse_size, "8388608T"),
        (parse_time, "5M5"),
        (parse_time, "5w"),
        (parse_time, MAX_TIME * 1.01),
        (parse_time, "11575d"),
        (parse_count, 1.0),
        (parse_count, "1.0"),
        (parse_count, "1K"),
        (parse_count, MAX_COUNT + 1),
    ],
)
def test_refused(parse: Any, value: Any) -> None:
    with pytest.raises(UsageError):
        parse("limits.x", value)


def test_sentence_and_kind_of_error() -> None:
    with pytest.raises(UsageError) as caught:
        parse_size("limits.memory", "12Q", error=UsageError)
    assert type(caught.value) is UsageError
    expected = "`limits.memory` is '12Q': give a size as bytes or with K, M, G or T (like 512M)."
    assert str(caught.value) == expected


anything = st.one_of(
    st.text(),
    st.from_regex(r"\A[0-9.]{1,6} ?[a-zA-Z]{0,3}\Z"),
    st.integers(),
    st.floats(),
    st.binary(),
    st.none(),
    st.booleans(),
    st.lists(st.integers()),
)


@given(anything)
def test_only_the_named_error(value: Any) -> None:
    for parse, kind, most in (
        (parse_size, int, MAX_SIZE),
        (parse_time, float, MAX_TIME),
        (parse_count, int, MAX_COUNT),
    ):
        try:
            parsed = parse("field", value)
        except PolicyError:
            continue
        assert type(parsed) is kind
        assert 0 < parsed <= most


@given(st.integers(1, 1023), st.integers(0, 4))
def test_round_sizes_come_back(number: Any, power: Any) -> None:
    size = number * 1024**power
    assert parse_size("size", format_size(size)) == size


@given(st.integers(1, MAX_SIZE))
def test_shown_size_is_near(size: Any) -> None:
    text = format_size(size)
    shown = float(text[:-1]) * 1024 ** "BKMGT".index(text[-1])
    assert abs(shown - size) <= size * 0.06


@given(st.floats(1e-6, MAX_TIME))
def test_shown_time_is_near(seconds: Any) -> None:
    text = format_time(seconds)
    assert parse_time("time", text) == pytest.approx(seconds, rel=0.006, abs=6e-7)
    assert len(text) <= 8


@given(st.integers(1, 10**4), st.sampled_from(["ms", "s", "m", "h", "d", ""]))
def test_times_are_monotone(number: Any, unit: Any) -> None:
    assert parse_time("t", f"{number + 1}{unit}") > parse_time("t", f"{number + 0.5}{unit}")


@given(st.integers(1, 10**6), st.sampled_from(["", "K", "MB", "GiB"]))
def test_sizes_are_monotone(number: Any, unit: Any) -> None:
    assert parse_size("s", f"{number + 1}{unit}") > parse_size("s", f"{number}{unit}")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0B"), (512, "512B"), (1024, "1K"), (3 << 29, "1.5G"), (123456789, "117.7M"), (5 << 50, "5120T")],
)
def test_format_size(size: Any, text: Any) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0ms"),
        (0.00015, "0.15ms"),
        (0.0123, "12.3ms"),
        (0.2, "200ms"),
        (1.5, "1.5s"),
        (30, "30s"),
        (60, "1m"),
        (90, "90s"),
        (125.5, "2.09m"),
        (5400, "90m"),
        (86400, "1d"),
        (100000, "27.8h"),
    ],
)
def test_format_time(seconds: Any, text: Any) -> None:
    assert format_time(seconds) == text


def test_check_choice() -> None:
    assert check_choice("mode", "ro", ("ro", "rw")) == "ro"
    for wrong in ("r", "", None, 1):
        with pytest.raises(UsageError, match="one of ro, rw"):
            check_choice("mode", wrong, ("ro", "rw"))


def test_check_keys() -> None:
    assert check_keys("p", {"a": 1}, ("a", "b"), needed=("a",)) == {"a": 1}
    with pytest.raises(UsageError, match="`p` has no 'c': it takes a, b"):
        check_keys("p", {"c": 1}, ("a", "b"))
    with pytest.raises(UsageError, match=r"`p\.b` is missing"):
        check_keys("p", {"a": 1}, ("a", "b"), needed=("b",))
    with pytest.raises(PolicyError, match="a mapping"):
        check_keys("p", [], ("a",), error=PolicyError)


@given(st.dictionaries(st.text(), st.integers()))
def test_frozen_map(items: Any) -> None:
    frozen = FrozenMap(items)
    assert frozen == items
    assert items == frozen
    for again in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert again == frozen
        assert hash(again) == hash(frozen)
        assert type(again) is FrozenMap
    items["\0new"] = 1
    assert "\0new" not in frozen


def test_frozen_map_is_frozen() -> None:
    frozen = FrozenMap({"a": 1})
    with pytest.raises(TypeError):
        frozen["a"] = 2  # type: ignore[index]
    with pytest.raises(AttributeError):
        frozen._items = {}
    with pytest.raises(AttributeError):
        del frozen._items
    assert frozen == {"a": 1}


class Inner(TypedDict):
    n: int


class Outer(TypedDict):
    name: str
    share: float
    inner: Inner | None
    items: list[Inner]
    table: dict[str, bool]
    mode: Literal["a", "b"]
    free: Any
    more: NotRequired[str]


GOOD = {
    "name": "x",
    "share": 1,
    "inner": None,
    "items": [{"n": 1}],
    "table": {"t": True},
    "mode": "a",
    "free": object,
}


def test_conform_takes_the_shape() -> None:
    assert conform(Outer, GOOD, "o") is GOOD
    assert conform(Outer, {**GOOD, "more": "m", "inner": {"n": 2}}, "o")["more"] == "m"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": 1}, "o.name"),
        ({"share": True}, "o.share"),
        ({"share": math.nan}, "o.share"),
        ({"share": 10**400}, "o.share"),
        ({"inner": []}, "o.inner"),
        ({"inner": {}}, "o.inner.n"),
        ({"items": {}}, "o.items"),
        ({"items": [{"n": 1}, {"n": 1.0}]}, "o.items[1].n"),
        ({"items": [{"n": True}]}, "o.items[0].n"),
        ({"table": []}, "o.table"),
        ({"table": {1: True}}, "o.table"),
        ({"table": {"t": 1}}, "o.table['t']"),
        ({"mode": "c"}, "o.mode"),
        ({"other": 1}, "o.other"),
        ({"more": None}, "o.more"),
    ],
)
def test_conform_names_the_path(change: Any, path: Any) -> None:
    with pytest.raises(UsageError) as caught:
        conform(Outer, GOOD | change, "o")
    assert caught.value.field == path


@pytest.mark.parametrize("missing", sorted(GOOD))
def test_conform_wants_all(missing: Any) -> None:
    with pytest.raises(UsageError, match=rf"`o\.{missing}` is missing"):
        conform(Outer, {name: value for name, value in GOOD.items() if name != missing}, "o")
