"""Requests: what they take, and what they refuse before anything starts."""

import dataclasses
import io
import json
import pickle
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belljar.errors import UsageError
from belljar.limits import Limits
from belljar.request import CallRequest, RunRequest, check_file_name


def type_name(value: object) -> str:
    return type(value).__name__


BOTH = pytest.mark.parametrize("request_type", [RunRequest, CallRequest])


@BOTH
def test_defaults(request_type: Any) -> None:
    request = request_type(source="x")
    assert (request.source, request.language, request.limits) == ("x", "python", None)
    assert (request.files, request.env, request.filename, request.id) == ({}, {}, None, None)


def test_more_defaults() -> None:
    run, call = RunRequest(source=""), CallRequest(source="")
    assert (run.args, run.stdin) == ((), None)
    assert (call.function, call.kwargs, call.init) == ("main", {}, None)


@BOTH
def test_all_common_fields(request_type: Any) -> None:
    request = request_type(
        source="\u00e9".encode(),
        language="c++",
        files={"a": b"\xff", "d/b.txt": "text", "d/c": Path("host")},
        env={"A": "1"},
        limits=Limits(wall=1),
        filename="sub/solution.py",
        id="run 7",
    )
    assert request.source == "\u00e9"
    assert request.files == {"a": b"\xff", "d/b.txt": "text", "d/c": Path("host")}
    assert request.env == {"A": "1"}
    assert dataclasses.replace(request, id=None).filename == "sub/solution.py"
    assert pickle.loads(pickle.dumps(request)) == request
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.source = ""


@BOTH
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": b"\xff"}, "source"),
        ({"source": "\ud800"}, "source"),
        ({"source": None}, "source"),
        ({"source": Path("a.py")}, "source"),
        ({"language": ""}, "language"),
        ({"language": "a\nb"}, "language"),
        ({"language": None}, "language"),
        ({"files": ["a"]}, "files"),
        ({"files": {"../a": b""}}, "files (a name)"),
        ({"files": {"a": 1}}, "files['a']"),
        ({"files": {"a": bytearray()}}, "files['a']"),
        ({"files": {"a": "\ud800"}}, "files['a']"),
        ({"files": {"a": "", "a/b": ""}}, "files (a name)"),
        ({"files": {"a/b/c": "", "a/b": ""}}, "files (a name)"),
        ({"env": {"A=": ""}}, "env (a name)"),
        ({"env": []}, "env"),
        ({"limits": {"wall": 1}}, "limits"),
        ({"filename": "/a.py"}, "filename"),
        ({"filename": ""}, "filename"),
        ({"id": ""}, "id"),
        ({"id": 5}, "id"),
        ({"id": "a\n"}, "id"),
        ({"id": "a" * 201}, "id"),
    ],
)
def test_refused(request_type: Any, change: Any, field: Any) -> None:
    with pytest.raises(UsageError) as caught:
        request_type(**({"source": ""} | change))
    assert caught.value.field == field


@pytest.mark.parametrize("args", ["abc", b"abc", {"a": "b"}, 5, None, [1], ["a\0"], ["\ud800"]])
def test_args_refused(args: Any) -> None:
    with pytest.raises(UsageError, match="`args"):
        RunRequest(source="", args=args)


def test_args() -> None:
    assert RunRequest(source="", args=["a", "", "-x"]).args == ("a", "", "-x")


class Reader:
    def read(self, size: int = -1) -> bytes:
        return b""


class Later:
    def __aiter__(self) -> "Later":
        return self


@pytest.mark.parametrize(
    "stdin",
    [None, b"", "text", io.BytesIO(), io.StringIO(), ["a", b"b"], iter([b"a"]), Reader(), Later()],
    ids=type_name,
)
def test_stdin(stdin: Any) -> None:
    assert RunRequest(source="", stdin=stdin).stdin is stdin


@pytest.mark.parametrize(
    "stdin", [5, 1.5, True, object(), bytearray(b"x"), memoryview(b"x"), {"a": "b"}, "\ud800", Path("a")]
)
def test_stdin_refused(stdin: Any) -> None:
    with pytest.raises(UsageError, match="`stdin`"):
        RunRequest(source="", stdin=stdin)


@pytest.mark.parametrize(
    "name", ["a", "a/b.c", "...", "a b", " ", "-", "\u00e9", "a" * 255, "/".join("a" * 32), ".hidden"]
)
def test_file_name(name: Any) -> None:
    assert check_file_name("f", name) == name


BAD_NAMES = {
    "": "relative path",
    "/a": "leading",
    "//": "leading",
    ".": "empty parts",
    "..": "empty parts",
    "a/../b": "empty parts",
    "a/./b": "empty parts",
    "a//b": "empty parts",
    "a/": "empty parts",
    "a\0b": "control",
    "a\nb": "control",
    "a\x7f": "control",
    "a\x85": "control",
    "\ud800": "UTF-8",
    "a" * 256: "at most",
    "\u00e9" * 128: "at most",
    "/".join("a" * 33): "at most",
}


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_file_name_refused(name: Any) -> None:
    with pytest.raises(UsageError, match=BAD_NAMES[name]) as caught:
        check_file_name("files", name)
    assert caught.value.field == "files"


@pytest.mark.parametrize("name", [None, 1, b"a", Path("a")])
def test_file_name_wrong_type(name: Any) -> None:
    with pytest.raises(UsageError):
        check_file_name("files", name)


@given(st.text() | st.text(alphabet="a./\0"))
def test_file_name_stays_below(name: Any) -> None:
    try:
        check_file_name("f", name)
    except UsageError:
        return
    root = Path("/r")
    assert str(root / name) == f"/r/{name}"
    assert ".." not in (root / name).parts


@pytest.mark.parametrize("function", ["main", "_x", "Tool.run", "\u00e9t\u00e9"])
def test_function(function: Any) -> None:
    assert CallRequest(source="", function=function).function == function


@pytest.mark.parametrize(
    "function",
    ["", ".", "a.", ".a", "a.b.c", "a b", "1a", "a()", "class", "a.def", None, 5],
)
def test_function_refused(function: Any) -> None:
    with pytest.raises(UsageError, match="`function`"):
        CallRequest(source="", function=function)


def test_init_needs_a_method() -> None:
    assert CallRequest(source="", function="Tool.run", init={"a": 1}).init == {"a": 1}
    with pytest.raises(UsageError, match="`init` makes the object"):
        CallRequest(source="", function="main", init={})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_json_arguments_are_exact(arguments: Any) -> None:
    call = CallRequest(source="", function="T.m", kwargs=arguments, init=arguments)
    assert call.kwargs == call.init == arguments
    assert json.loads(json.dumps(call.kwargs, allow_nan=False)) == arguments


def test_arguments_are_a_copy_of_plain_types() -> None:
    class Word(str):
        __slots__ = ()

    inner = [1]
    call = CallRequest(source="", kwargs={"a": inner, "t": (1, 2), "w": Word("x")})
    inner.append(2)
    assert call.kwargs == {"a": [1], "t": [1, 2], "w": "x"}
    assert type(call.kwargs["w"]) is str


def nested(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


LOOP: list[object] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (float("nan"), ""),
        (float("inf"), ""),
        (object(), ""),
        ({1, 2}, ""),
        (b"x", ""),
        ({1: 2}, ""),
        ({"k": [0, {"z": float("nan")}]}, "['k'][1]['z']"),
        (10**5000, ""),
        (nested(100), "[0][0][0][...][0][0][0]"),
        (LOOP, "[0][0][0][...][0][0][0]"),
    ],
    ids=type_name,
)
@pytest.mark.parametrize("name", ["kwargs", "init"])
def test_not_json(name: Any, value: Any, place: Any) -> None:
    with pytest.raises(UsageError) as caught:
        CallRequest(source="", function="T.m", **cast("Any", {name: {"arg": value}}))
    expected = f"{name}['arg']{place}"
    if "[...]" in place:
        assert caught.value.field is not None
        assert caught.value.field.startswith(f"{name}['arg']")
        assert len(caught.value.field) < 60
    else:
        assert caught.value.field == expected


def test_depth_just_allowed() -> None:
    assert CallRequest(source="", kwargs={"a": nested(99)}).kwargs == {"a": nested(99)}


@pytest.mark.parametrize("arguments", [{1: 2}, ["a"], "a"])
def test_wrong_arguments(arguments: Any) -> None:
    with pytest.raises(UsageError, match="`kwargs`"):
        CallRequest(source="", kwargs=arguments)
