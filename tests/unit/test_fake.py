"""The scripted backend: every field shows, every outcome can be had, by both faces and in a map."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from belljar.backends.base import Program
from belljar.errors import SetupError, UsageError
from belljar.events import Finished, Output
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.output import Chunk, ErrorInfo, Frame
from belljar.policy import Policy
from belljar.report import Level
from belljar.request import CallRequest, RunRequest
from belljar.result import Result
from belljar.sandbox import AsyncSandbox, Sandbox
from belljar.testing import FakeBackend, Scripted
from belljar.testing.fake import Script

ERROR = ErrorInfo(
    type="KeyError",
    message="'x'",
    args=("x",),
    name="x",
    traceback="Traceback ...",
    frames=(Frame(file="main.py", line=1, function="f", text="{}['x']"),),
)


def by_sync(backend: FakeBackend, source: Any, **options: Any) -> Result:
    with Sandbox(backend=backend) as box:
        return box.run(source, **options)


def by_async(backend: FakeBackend, source: Any, **options: Any) -> Result:
    async def scene() -> Result:
        async with AsyncSandbox(backend=backend) as box:
            return await box.run(source, **options)

    return asyncio.run(scene())


def by_map(backend: FakeBackend, source: Any, **options: Any) -> Result:
    request = source if isinstance(source, RunRequest) else RunRequest(source=source, **options)
    with Sandbox(backend=backend) as box:
        (result,) = box.map([request])
    return result


Run = Callable[..., Result]


@pytest.fixture(params=[by_sync, by_async, by_map])
def run(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


@pytest.mark.parametrize(
    ("script", "shows"),
    [
        (Scripted(), {"outcome": Outcome.OK, "exit_code": 0, "has_value": False, "error": None, "stdout": ""}),
        (Scripted(stdout="aé"), {"stdout": "aé", "stdout_bytes": "aé".encode(), "stderr": ""}),
        (Scripted(stderr=b"\xff"), {"stderr": "\ufffd", "stderr_bytes": b"\xff", "stdout": ""}),
        (
            Scripted(stdout="o", stderr="e"),
            {"transcript": (Chunk(stream="stdout", text="o"), Chunk(stream="stderr", text="e"))},
        ),
        (Scripted(exit_code=3), {"outcome": Outcome.FAILED, "exit_code": 3}),
        (Scripted(exit_code=None, signal=11), {"outcome": Outcome.CRASHED, "exit_code": None, "signal": 11}),
        (Scripted(value={"a": [1]}), {"value": {"a": [1]}, "has_value": True}),
        (Scripted(value=None), {"value": None, "has_value": True}),
        (Scripted(exit_code=1, error=ERROR), {"error": ERROR, "has_value": False}),
        (Scripted(exit_code=1, error=ERROR, rejected=True), {"outcome": Outcome.REJECTED, "error": ERROR}),
        (Scripted(stopped="memory", signal=9), {"outcome": Outcome.OUT_OF_MEMORY, "limits_hit": ("memory",)}),
        (Scripted(lost=True), {"outcome": Outcome.LOST}),
    ],
)
def test_every_field_shows(run: Run, script: Scripted, shows: dict[str, object]) -> None:
    result = run(FakeBackend(script), "x")
    assert {name: getattr(result, name) for name in shows} == shows
    assert result.report.layer("script").by == "fake"
    assert Result.from_dict(result.to_dict()) == result


def test_files_show(run: Run) -> None:
    result = run(FakeBackend(Scripted(files={"a": b"1", "d/b": b"22"})), "x")
    assert {name: file.data for name, file in result.files.items()} == {"a": b"1", "d/b": b"22"}
    assert result.usage.disk_bytes == 3


@pytest.mark.parametrize(
    ("outcome", "script"),
    [
        (Outcome.OK, Scripted()),
        (Outcome.FAILED, Scripted(exit_code=1)),
        (Outcome.REJECTED, Scripted(exit_code=1, rejected=True)),
        (Outcome.CRASHED, Scripted(exit_code=None, signal=6)),
        (Outcome.TIMED_OUT, Scripted(stopped="wall", signal=9)),
        (Outcome.TIMED_OUT, Scripted(stopped="cpu", signal=9)),
        (Outcome.OUT_OF_MEMORY, Scripted(stopped="memory", signal=9)),
        (Outcome.OVER_LIMIT, Scripted(stopped="processes", signal=9)),
        (Outcome.OVER_LIMIT, Scripted(stopped="disk", signal=9)),
        (Outcome.OVER_LIMIT, Scripted(stopped="files", signal=9)),
        (Outcome.OVER_LIMIT, Scripted(stopped="output", signal=9)),
        (Outcome.LOST, Scripted(lost=True)),
        (Outcome.LOST, Scripted(exit_code=None)),
    ],
)
def test_outcomes(run: Run, outcome: Outcome, script: Scripted) -> None:
    assert run(FakeBackend(script), "x").outcome is outcome


@pytest.mark.parametrize("face", ["sync", "async"])
def test_cancelled_when_it_is_closed_while_it_runs(face: str) -> None:
    backend = FakeBackend(Scripted(stdout="x", lost=True))
    run = by_sync if face == "sync" else by_async
    assert run(backend, "x", on_stdout=lambda _: backend.close()).outcome is Outcome.CANCELLED


def test_the_cases_reach_every_outcome_but_denied() -> None:
    (mark,) = test_outcomes.pytestmark  # type: ignore[attr-defined]
    reached = {outcome for outcome, _ in mark.args[1]} | {Outcome.CANCELLED}
    assert set(Outcome) - reached == {Outcome.DENIED}


def test_it_takes_its_time(run: Run) -> None:
    began = time.monotonic()
    result = run(FakeBackend(Scripted(takes=0.1)), "x")
    assert result.ok
    assert 0.1 <= result.usage.wall <= time.monotonic() - began


def test_one_that_takes_too_long_is_timed_out(run: Run) -> None:
    limits = Limits(wall=0.05, grace=0.05)
    result = run(FakeBackend(Scripted(stdout="x", takes=60)), "x", limits=limits)
    assert (result.outcome, result.limits_hit, result.stdout) == (Outcome.TIMED_OUT, ("wall",), "x")
    assert 0.1 <= result.usage.wall < 30


def test_one_that_ends_in_its_grace_is_timed_out_too(run: Run) -> None:
    result = run(FakeBackend(Scripted(takes=0.1)), "x", limits=Limits(wall=0.02, grace=60))
    assert (result.outcome, result.exit_code) == (Outcome.TIMED_OUT, 0)


def test_overflow() -> None:
    backend = FakeBackend(Scripted(stdout="0123456789", takes=60))
    policy = Policy(level="none", overflow="stop", limits=Limits(output=4))
    result = Sandbox(policy, backend=backend).run("x")
    assert (result.outcome, result.limits_hit) == (Outcome.OVER_LIMIT, ("output",))
    assert (result.stdout_bytes, result.stdout_dropped) == (b"0189", 6)
    backend = FakeBackend(Scripted(stdout="0123456789"))
    result = Sandbox(policy.replace(overflow="drop"), backend=backend).run("x")
    assert (result.outcome, result.limits_hit) == (Outcome.OK, ("output",))


@pytest.mark.parametrize(
    ("stdin", "heard"),
    [
        (None, b""),
        (b"ab\xff", b"ab\xff"),
        ("é", "é".encode()),
        (lambda: iter(["a", b"b"]), b"ab"),
        (lambda: open(os.devnull, "rb"), b""),  # noqa: SIM115
    ],
)
def test_stdin_is_recorded(stdin: Any, heard: bytes) -> None:
    for run in (by_sync, by_map):
        backend = FakeBackend()
        opened = stdin() if callable(stdin) else stdin
        if run is by_map and hasattr(opened, "read"):
            opened.close()
            continue  # /dev/null in a loop: see test_stdin_that_epoll_refuses
        assert run(backend, "x", stdin=opened).ok
        assert backend.stdins == [heard]
        if hasattr(opened, "close"):
            opened.close()


def test_stdin_that_epoll_refuses() -> None:
    backend = FakeBackend()
    with open(os.devnull, "rb") as null:
        assert by_async(backend, "x", stdin=null).ok
    assert backend.stdins == [b""]


def test_programs_are_recorded(run: Run) -> None:
    backend = FakeBackend()
    run(backend, RunRequest(source="1", args=["a"], env={"K": "v"}, files={"f": b"x"}, filename="p.py"))
    run(backend, "2")
    first, second = backend.programs
    assert (first.source, first.args, first.filename, first.kind) == (b"1", ("a",), "p.py", "run")
    assert first.environment == {"K": "v"}
    assert [(file.name, file.size) for file in first.inputs] == [("f", 1)]
    assert second.source == b"2"


@pytest.mark.parametrize(
    "script",
    [
        {"a": Scripted(value=1), "b": Scripted(value=2)},
        lambda program: Scripted(value={b"a": 1, b"b": 2}[program.source]),
    ],
)
def test_scripts_by_source(run: Run, script: Script) -> None:
    backend = FakeBackend(script)
    assert [run(backend, source).value for source in "ab"] == [1, 2]


def test_an_unknown_source_is_a_usage_error() -> None:
    for run in (by_sync, by_async):
        with pytest.raises(UsageError, match="an answer for every source") as caught:
            run(FakeBackend({"a": Scripted()}), "b")
        assert (caught.value.field, caught.value.value) == ("script", "b")
    result = by_map(FakeBackend({"a": Scripted()}), "b")
    assert result.outcome is Outcome.REJECTED
    assert result.error is not None
    assert result.error.type == "UsageError"


def test_refused() -> None:
    backend = FakeBackend(Scripted(refused="no room"))
    for run in (by_sync, by_async):
        with pytest.raises(SetupError, match=r"fake: no room\.") as caught:
            run(backend, "x")
        assert caught.value.layer == "fake"
    result = by_map(backend, "x")
    assert (result.outcome, result.error and result.error.type) == (Outcome.LOST, "SetupError")


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("floor", list(Level))
def test_the_floor(level: Level, floor: Level) -> None:
    box = Sandbox(Policy(level=floor), backend=FakeBackend(level=level))
    if level.at_least(floor):
        assert box.run("x").report.level is level
    else:
        with pytest.raises(SetupError, match="floor"):
            box.run("x")


def test_calls() -> None:
    backend = FakeBackend(Scripted(value=3))
    box = Sandbox(backend=backend)
    assert box.call("def f(a): ...", "f", a=1).value == 3
    (program,) = backend.programs
    assert isinstance(program, Program)
    assert program.kind == "call"
    assert program.call == {"function": "f", "kwargs": {"a": 1}, "init": None}
    no_answer = Sandbox(backend=FakeBackend(Scripted()))
    assert no_answer.call(CallRequest(source="x")).outcome is Outcome.FAILED


def test_streams() -> None:
    box = Sandbox(backend=FakeBackend(Scripted(stdout="aé".encode()[:2], stderr="b")))
    *outputs, last = box.stream("x")
    assert [(event.stream, event.text, event.data) for event in outputs if isinstance(event, Output)] == [
        ("stdout", "a", b"a\xc3"),
        ("stderr", "b", b"b"),
        ("stdout", "\ufffd", b""),
    ]
    assert isinstance(last, Finished)
    assert last.result.stdout == "a\ufffd"


def test_map_mixes_everything() -> None:
    script = {"a": Scripted(value=1, takes=0.1), "b": Scripted(refused="no"), "c": Scripted(lost=True)}
    with Sandbox(backend=FakeBackend(script)) as box:
        results = list(box.map(["a", "b", "c", "d", RunRequest(source="a", id="mine")], ordered=True))
    assert [result.index for result in results] == list(range(5))
    assert [result.outcome.value for result in results] == ["ok", "lost", "lost", "rejected", "ok"]
    assert results[4].id == "mine"


def test_closing() -> None:
    backend = FakeBackend()
    with Sandbox(backend=backend):
        assert not backend.closed
    assert backend.closed
