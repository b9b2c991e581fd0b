"""Results: one JSON form, exactly there and back."""

import base64
import copy
import dataclasses
import json
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from belljar.errors import UsageError
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.output import Chunk, Denial, Display, ErrorInfo, Frame, OutputFile
from belljar.report import Layer, LayerState, Level, Report
from belljar.result import Result, ResultDict
from belljar.usage import Usage, UsageDict

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/result.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

BASE: dict[str, Any] = {
    "id": "1",
    "usage": Usage(wall=0.012),
    "limits": Limits(),
    "report": Report(level=Level.FULL),
}
OK = Result(outcome=Outcome.OK, **BASE)

texts = st.text(max_size=8)
counts = st.integers(0, 10**12)
maybe_counts = st.none() | counts
seconds = st.floats(0, 1e9)
streams = st.sampled_from(["stdout", "stderr"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
values: st.SearchStrategy[dict[str, Any]] = json_values.map(
    lambda value: {"value": value, "has_value": True}
) | st.just({})
objects = st.dictionaries(texts, json_values, max_size=2)
frames = st.builds(Frame, file=texts, line=counts, function=texts, text=texts)
errors = st.builds(
    ErrorInfo,
    type=texts,
    message=texts,
    args=st.lists(texts, max_size=2).map(tuple),
    name=st.none() | texts,
    traceback=texts,
    frames=st.lists(frames, max_size=2).map(tuple),
)
output_files = st.dictionaries(texts, st.tuples(st.binary(max_size=8), st.integers(0, 0o777)), max_size=2).map(
    lambda files: {name: OutputFile(name=name, data=data, mode=mode) for name, (data, mode) in files.items()}
)
chunks = st.builds(Chunk, stream=streams, text=texts, dropped=counts)
usages = st.builds(Usage, wall=seconds, cpu_user=seconds, memory_peak=maybe_counts, output_bytes=counts)
layers = st.builds(Layer, name=texts, state=st.sampled_from(LayerState), by=texts, detail=texts)


@st.composite
def results(draw: Any) -> Any:
    return Result(
        id=draw(texts),
        outcome=draw(st.sampled_from(Outcome)),
        exit_code=draw(maybe_counts),
        signal=draw(maybe_counts),
        stdout=draw(texts),
        stderr=draw(texts),
        stdout_bytes=draw(st.binary(max_size=8)),
        stderr_bytes=draw(st.just(b"") | st.binary(max_size=8)),
        stdout_dropped=draw(counts),
        stderr_file=draw(st.none() | texts),
        transcript=tuple(draw(st.lists(st.builds(Chunk, stream=streams, text=texts, dropped=counts), max_size=2))),
        **draw(values),
        error=draw(st.none() | errors),
        displays=tuple(draw(st.lists(st.builds(Display, data=objects, metadata=objects), max_size=2))),
        files=draw(output_files),
        usage=draw(st.builds(Usage, wall=seconds, cpu_user=seconds, memory_peak=maybe_counts, output_bytes=counts)),
        limits=draw(st.builds(Limits, wall=st.floats(0.001, 1e6), memory=st.integers(1, 2**40))),
        limits_hit=tuple(draw(st.lists(texts, max_size=2))),
        report=Report(level=draw(st.sampled_from(Level)), layers=tuple(draw(st.lists(layers, max_size=2)))),
        denials=tuple(draw(st.lists(st.builds(Denial, kind=texts, name=texts, count=counts), max_size=2))),
        index=draw(maybe_counts),
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(results())
def test_there_and_back(result: Any) -> None:
    form = result.to_dict()
    VALIDATOR.validate(form)
    again = Result.from_dict(json.loads(json.dumps(form, allow_nan=False)))
    assert again == result
    assert again.to_dict() == form
    assert type(again.outcome) is Outcome
    assert pickle.loads(pickle.dumps(result)) == result == copy.deepcopy(result)


def test_names_agree() -> None:
    fields = {field.name for field in dataclasses.fields(Result)}
    assert fields | {"ok"} == set(ResultDict.__annotations__)
    assert {field.name for field in dataclasses.fields(Usage)} == set(UsageDict.__annotations__)
    assert set(OK.to_dict()) == set(ResultDict.__annotations__)


@pytest.mark.parametrize("outcome", Outcome)
def test_ok(outcome: Any) -> None:
    result = Result(outcome=outcome, **BASE)
    assert result.ok is (outcome is Outcome.OK)
    form = result.to_dict()
    assert form["ok"] is result.ok
    assert type(form["outcome"]) is str


@pytest.mark.parametrize(
    ("given_fields", "text", "data", "form"),
    [
        ({}, "", b"", None),
        ({"stdout": "h\u00e9"}, "h\u00e9", b"h\xc3\xa9", None),
        ({"stdout_bytes": b"h\xc3\xa9"}, "h\u00e9", b"h\xc3\xa9", None),
        ({"stdout_bytes": b"\xff"}, "\ufffd", b"\xff", base64.b64encode(b"\xff").decode()),
        ({"stdout": "?", "stdout_bytes": b"\xff"}, "?", b"\xff", base64.b64encode(b"\xff").decode()),
    ],
)
def test_text_and_bytes(given_fields: Any, text: Any, data: Any, form: Any) -> None:
    result = dataclasses.replace(OK, **given_fields)
    assert (result.stdout, result.stdout_bytes) == (text, data)
    assert result.to_dict()["stdout_bytes"] == form
    twins = {name.replace("out", "err"): value for name, value in given_fields.items()}
    other = Result(outcome=Outcome.OK, **BASE, **twins)
    assert (other.stderr, other.stderr_bytes) == (text, data)


def test_repr() -> None:
    assert repr(dataclasses.replace(OK, stdout="hi\n")) == "<Result ok, stdout 'hi\\n', wall 12ms>"
    assert repr(dataclasses.replace(OK, stdout="x" * 100)) == f"<Result ok, stdout '{'x' * 60}...', wall 12ms>"


def test_files_are_found_by_their_own_name() -> None:
    file = OutputFile(name="a", data=b"x")
    assert dataclasses.replace(OK, files={"a": file}).files["a"].read() == b"x"
    with pytest.raises(UsageError, match="under which it stands"):
        dataclasses.replace(OK, files={"b": file})


FILE_FORM = {"content": "eA==", "size": 1, "mode": 420}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"extra": 1}, "result.extra"),
        ({"outcome": "fine"}, "result.outcome"),
        ({"ok": False}, "result.ok"),
        ({"exit_code": "0"}, "result.exit_code"),
        ({"exit_code": True}, "result.exit_code"),
        ({"stdout": None}, "result.stdout"),
        ({"stdout_bytes": "?"}, "result.stdout_bytes"),
        ({"stderr_bytes": "\u00e9"}, "result.stderr_bytes"),
        ({"value": 1}, "result.has_value"),
        ({"transcript": [{"stream": "stdin", "text": "", "dropped": 0}]}, "result.transcript[0].stream"),
        ({"error": {}}, "result.error.type"),
        ({"files": {"a": FILE_FORM | {"size": 2}}}, "result.files['a'].size"),
        ({"files": {"a": FILE_FORM | {"content": "x"}}}, "result.files['a'].content"),
        ({"files": {"a": FILE_FORM | {"owner": 0}}}, "result.files['a'].owner"),
        ({"usage": {}}, "result.usage.wall"),
        ({"limits": Limits().to_dict() | {"memory": "1M"}}, "result.limits.memory"),
        ({"report": {"level": "full"}}, "result.report.layers"),
        ({"limits_hit": "memory"}, "result.limits_hit"),
    ],
)
def test_wrong_form(change: Any, field: Any) -> None:
    with pytest.raises(UsageError) as caught:
        Result.from_dict({**OK.to_dict(), **change})
    assert caught.value.field == field


@pytest.mark.parametrize("missing", sorted(ResultDict.__annotations__))
def test_missing_field(missing: Any) -> None:
    form = dict(OK.to_dict())
    del form[missing]
    with pytest.raises(UsageError, match=rf"`result\.{missing}` is missing"):
        Result.from_dict(form)


@pytest.mark.parametrize("wrong", [None, [], "ok"])
def test_not_a_mapping(wrong: Any) -> None:
    with pytest.raises(UsageError, match="`result` is"):
        Result.from_dict(wrong)


def test_output_file() -> None:
    file = OutputFile(name="a.txt", data="h\u00e9".encode())
    assert (file.size, file.read(), file.text()) == (3, b"h\xc3\xa9", "h\u00e9")
    assert "xc3" not in repr(file)
    with pytest.raises(UnicodeDecodeError):
        OutputFile(name="a", data=b"\xff").text()


@pytest.mark.parametrize(
    ("mode", "saved"), [(0o644, 0o644), (0o6777, 0o755), (0o600, 0o644), (0, 0o644), (0o100, 0o755)]
)
def test_save(tmp_path: Path, mode: Any, saved: Any) -> None:
    target = tmp_path / "new" / "out"
    path = OutputFile(name="d/e/a.bin", data=b"\0x", mode=mode).save(target)
    assert path == target / "d/e/a.bin"
    assert path.read_bytes() == b"\0x"
    # The caller's umask still counts.
    probe = os.open(tmp_path / "probe", os.O_CREAT | os.O_WRONLY, saved)
    assert path.stat().st_mode == os.fstat(probe).st_mode
    os.close(probe)
    assert [entry.name for entry in path.parent.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "", ".", "a\0b"])
def test_save_refuses_a_name_that_leaves(tmp_path: Path, name: Any) -> None:
    with pytest.raises(UsageError, match="`name`"):
        OutputFile(name=name, data=b"x").save(tmp_path / "out")
    assert list(tmp_path.rglob("*")) == []


def test_save_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("safe")
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").symlink_to(victim)
    OutputFile(name="a", data=b"x").save(out)
    assert victim.read_text() == "safe"
    assert stat.S_ISREG((out / "a").lstat().st_mode)


def test_save_refuses_a_linked_directory(tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (out / "d").symlink_to(outside)
    with pytest.raises(UsageError, match="'d' is there and is not a directory"):
        OutputFile(name="d/a", data=b"x").save(out)
    assert list(outside.iterdir()) == []


def test_save_follows_the_directory_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    OutputFile(name="a", data=b"x").save(tmp_path / "link")
    assert (tmp_path / "real/a").read_bytes() == b"x"


def test_save_is_all_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with pytest.raises(IsADirectoryError):
        OutputFile(name="a", data=b"x").save(tmp_path)
    assert os.listdir(tmp_path) == ["a"]
    after = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    assert len(after) == len(before)
