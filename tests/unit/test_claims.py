"""Whatever shape a claim has: a model comes out, or nothing, and a result with it goes to JSON and back."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belljar.claims import displays_of, error_of
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.output import Display, ErrorInfo, Frame
from belljar.report import Level, Report
from belljar.result import Result
from belljar.usage import Usage

texts = st.text(st.characters(exclude_categories=()), max_size=6)  # lone surrogates too: JSON can say them
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the right names, each missing, right or anything at all."""
    return st.fixed_dictionaries({}, optional={name: value | json_values for name, value in fields.items()})


frames = shaped(file=texts, line=st.integers(), function=texts, text=texts)
errors = shaped(
    type=texts,
    message=texts,
    args=st.lists(texts | json_values, max_size=3),
    name=texts,
    traceback=texts,
    frames=st.lists(frames | json_values, max_size=3),
)
displays = st.lists(shaped(data=st.dictionaries(texts, json_values, max_size=2)) | json_values, max_size=3)
contents = st.none() | st.dictionaries(texts, json_values) | shaped(error=errors, displays=displays)


@settings(deadline=None)
@given(contents)
def test_anything_gives_models_that_go_to_json_and_back(content: dict[str, Any] | None) -> None:
    result = Result(
        id="1",
        outcome=Outcome.FAILED,
        usage=Usage(),
        limits=Limits(),
        report=Report(level=Level.NONE),
        error=error_of(content),
        displays=displays_of(content),
    )
    assert Result.from_dict(json.loads(json.dumps(result.to_dict()))) == result


@pytest.mark.parametrize("content", [None, {}, {"error": None}, {"error": "x"}, {"error": [1]}, {"value": 1}])
def test_no_error(content: dict[str, Any] | None) -> None:
    assert error_of(content) is None


def test_an_error_of_the_right_shape() -> None:
    frame = {"file": "main.py", "line": 3, "function": "f", "text": "1/0"}
    error = {"type": "T", "message": "m", "args": ["a", "b"], "name": "n", "traceback": "t", "frames": [frame]}
    assert error_of({"error": error}) == ErrorInfo(
        type="T",
        message="m",
        args=("a", "b"),
        name="n",
        traceback="t",
        frames=(Frame(file="main.py", line=3, function="f", text="1/0"),),
    )


@pytest.mark.parametrize("wrong", [None, 1, True, 1.5, [], {}])
def test_wrong_fields_are_empty(wrong: object) -> None:
    error = dict.fromkeys(("type", "message", "args", "name", "traceback", "frames"), wrong)
    assert error_of({"error": error}) == ErrorInfo(type="", message="")
    assert error_of({"error": {"args": [wrong, "x"], "frames": [1, {}]}}) == ErrorInfo(
        type="", message="", args=("", "x"), frames=(Frame(file="", line=0, function="", text=""),)
    )


@pytest.mark.parametrize(("line", "expected"), [(7, 7), (True, 0), (1.5, 0), ("7", 0), (None, 0), (10**40, 10**40)])
def test_the_line_is_a_whole_number(line: object, expected: int) -> None:
    found = error_of({"error": {"frames": [{"line": line}]}})
    assert found is not None
    assert found.frames[0].line == expected


def test_lists_are_bounded() -> None:
    found = error_of({"error": {"args": ["x"] * 5000, "frames": [{}] * 5000}})
    assert found is not None
    assert (len(found.args), len(found.frames)) == (1000, 1000)
    assert len(displays_of({"displays": [{"data": {}}] * 5000})) == 1000


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, ()),
        ({}, ()),
        ([{}, {"data": None}, {"data": []}, 1, None], ()),
        ([{"data": {"text/plain": "1"}}, "x", {"data": {}}], (Display(data={"text/plain": "1"}), Display(data={}))),
    ],
)
def test_displays(given_: object, expected: tuple[Display, ...]) -> None:
    assert displays_of({"displays": given_}) == expected
    assert displays_of(None) == ()
