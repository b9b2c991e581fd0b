"""The engine over a scripted backend: options, whose limits count, what is refused, and what a result measures."""

import asyncio
import gc
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import belljar
from belljar.errors import SetupError, UsageError
from belljar.events import Finished, Output
from belljar.limits import Limits
from belljar.policy import Policy
from belljar.report import Level
from belljar.request import CallRequest, RunRequest
from belljar.sandbox import AsyncSandbox, Sandbox
from belljar.testing import FakeBackend, Scripted

SHORT, LONG = Limits(wall=1), Limits(wall=2)


def open_descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"workers": 0}, "workers"),
        ({"workers": 65}, "workers"),
        ({"workers": True}, "workers"),
        ({"workers": 2.0}, "workers"),
        ({"workers": "4"}, "workers"),
        ({"parked": -1}, "parked"),
        ({"parked": 65}, "parked"),
        ({"parked": False}, "parked"),
        ({"parked": "1"}, "parked"),
        ({"preload": "numpy"}, "preload"),
        ({"policy": Limits()}, "policy"),
        ({"policy": {"level": "none"}}, "policy"),
        ({"policy": "none"}, "policy"),
        ({"limits": 5}, "policy.limits"),
        ({"limits": {"wall": 1}}, "policy.limits"),
        ({"limits": {"wall": 1}, "policy": Policy()}, "policy.limits"),
    ],
    ids=str,
)
@pytest.mark.parametrize("face", [Sandbox, AsyncSandbox])
def test_a_wrong_option_names_its_field(face: Callable[..., object], options: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as caught:
        face(**{"backend": FakeBackend(), **options})
    assert caught.value.field == field


@pytest.mark.parametrize("face", [Sandbox, AsyncSandbox])
def test_an_unknown_option(face: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="paralel"):
        face(backend=FakeBackend(), paralel=3)
    with pytest.raises(TypeError, match="timeout"):
        Sandbox(backend=FakeBackend()).run("1", timeout=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("backend", [5, b"local", ["local"]])
def test_a_backend_of_a_wrong_type(backend: Any) -> None:
    with pytest.raises(UsageError):
        Sandbox(backend=backend)


@pytest.mark.parametrize("workers", [None, 1, 64])
@pytest.mark.parametrize("parked", [None, 0, 64])
def test_good_options(workers: int | None, parked: int | None) -> None:
    box = Sandbox(backend=FakeBackend(), workers=workers, parked=parked, preload=iter(["json"]))
    assert box._engine.workers == (workers or 2 * (os.cpu_count() or 1))


@pytest.mark.parametrize("workers", [0, 65, "3"])
def test_workers_of_a_map_are_checked_before_anything_runs(workers: Any) -> None:
    backend = FakeBackend()
    with pytest.raises(UsageError, match="workers"):
        Sandbox(backend=backend).map(["1"], workers=workers)
    assert backend.programs == []


@pytest.mark.parametrize(
    ("options", "run", "wall"),
    [
        ({}, {}, 30),
        ({"limits": SHORT}, {}, 1),
        ({"policy": Policy(level="none", limits=SHORT)}, {}, 1),
        ({"policy": Policy(level="none", limits=SHORT), "limits": LONG}, {}, 2),
        ({"policy": Policy(level="none", limits=SHORT)}, {"limits": LONG}, 2),
        ({"limits": SHORT}, {"limits": LONG}, 2),
        ({"limits": SHORT}, {"limits": None}, 1),
    ],
)
def test_whose_limits_count(options: dict[str, Any], run: dict[str, Any], wall: float) -> None:
    box = Sandbox(backend=FakeBackend(), **options)
    results = [box.run("1", **run), box.run(RunRequest(source="1", **run)), *box.map([RunRequest(source="1", **run)])]
    results.append(asyncio.run(AsyncSandbox.sharing(box).run("1", **run)))
    results.append(box.call(CallRequest(source="1", **run)))
    assert [result.limits.wall for result in results] == [wall] * 5


def test_limits_leave_the_rest_of_the_policy() -> None:
    policy = Policy(level="none", overflow="stop", env={"A": "1"}, limits=SHORT)
    backend = FakeBackend()
    box = Sandbox(policy, backend=backend, limits=LONG)
    assert box._engine.policy == policy.replace(limits=LONG)
    box.run("1", env={"B": "2"})
    assert backend.programs[0].environment == {"A": "1", "B": "2"}
    box.run("1", env={"A": "2"})
    assert backend.programs[1].environment == {"A": "2"}


def test_naming_a_backend_accepts_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("belljar.engine.backend_class", lambda _: lambda **_: FakeBackend())
    for backend in (FakeBackend(), "local"):
        assert Sandbox(backend=backend)._engine.policy.level is Level.NONE
        assert Sandbox(Policy(), backend=backend)._engine.policy.level is Level.ROOTLESS


@pytest.mark.parametrize("options", [{"args": ["a"]}, {"limits": SHORT}, {"id": "x"}, {"stdin": b"", "env": {}}])
def test_a_request_says_it_all(options: dict[str, Any]) -> None:
    backend = FakeBackend()
    box = Sandbox(backend=backend)
    with pytest.raises(UsageError, match="RunRequest says it all: " + ", ".join(options)):
        box.run(RunRequest(source="1"), **options)
    with pytest.raises(UsageError, match="RunRequest says it all"):
        box.stream(RunRequest(source="1"), **options)
    with pytest.raises(UsageError, match="RunRequest says it all"):
        asyncio.run(AsyncSandbox.sharing(box).run(RunRequest(source="1"), **options))
    with pytest.raises(UsageError, match="CallRequest says it all"):
        box.call(CallRequest(source="1"), **options)
    with pytest.raises(UsageError, match="CallRequest says it all"):
        box.call(CallRequest(source="1"), init={})
    assert backend.programs == []


def test_watching_is_no_part_of_a_request(tmp_path: Path) -> None:
    heard: list[str] = []
    box = Sandbox(backend=FakeBackend(Scripted(stdout="x")))
    result = box.run(RunRequest(source="1", id="r"), on_stdout=heard.append, spill=tmp_path)
    assert heard == ["x"]
    assert result.stdout_file == str(tmp_path / "r.stdout")
    assert (tmp_path / "r.stdout").read_text() == "x"


def test_ids() -> None:
    box = Sandbox(backend=FakeBackend())
    made = [box.run("1").id for _ in range(5)]
    assert len(set(made)) == 5
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in made)
    assert box.run("1", id="mine").id == "mine"
    assert [result.id for result in box.map([RunRequest(source="1", id="m")])] == ["m"]
    assert box.run("1").index is None


@pytest.mark.parametrize("name", ["../outside", "/absolute", "a/b"])
def test_spill_stays_in_its_directory(tmp_path: Path, name: str) -> None:
    name = f"{tmp_path}/absolute" if name == "/absolute" else name
    directory = tmp_path / "spill"
    (directory / "a").mkdir(parents=True)
    before = {*tmp_path.iterdir(), *(directory / "a").iterdir()}
    try:
        Sandbox(backend=FakeBackend()).run("1", id=name, spill=directory)
    except UsageError:
        pass  # to refuse it is as good as to make a name of it
    assert {*tmp_path.iterdir(), *(directory / "a").iterdir()} == before


def test_a_spill_file_that_exists_is_a_usage_error(tmp_path: Path) -> None:
    box = Sandbox(backend=FakeBackend())
    box.run("1", id="x", spill=tmp_path)
    with pytest.raises(UsageError):
        box.run("1", id="x", spill=tmp_path)


@pytest.mark.parametrize("takes", [0.0, 0.1])
def test_times_are_sane(takes: float) -> None:
    began = time.monotonic()
    usage = Sandbox(backend=FakeBackend(Scripted(takes=takes, stdout="abc", stderr="d"))).run("1").usage
    passed = time.monotonic() - began
    assert takes <= usage.wall <= passed
    assert 0 <= usage.setup <= passed
    assert usage.wall + usage.setup <= passed
    assert usage.output_bytes == 4


def test_waiting_for_a_place_is_setup() -> None:
    async def scene() -> list[float]:
        box = AsyncSandbox(backend=FakeBackend(Scripted(takes=0.1)))
        box._engine._gate._room = 1
        results = await asyncio.gather(*(box.run("1") for _ in range(3)))
        return [result.usage.setup for result in results]

    setups = asyncio.run(scene())
    assert setups[0] < 0.1
    assert setups[1] >= 0.1
    assert setups[2] >= 0.2


class Mine(Exception):  # noqa: N818
    pass


def refuse(_: str) -> None:
    raise Mine


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_a_callback_raises_ends_the_run_and_is_raised(stream: str) -> None:
    before = open_descriptors()
    script = Scripted(stdout="x", stderr="y", takes=60)
    box = Sandbox(backend=FakeBackend(script))
    with pytest.raises(Mine):
        box.run("1", **{f"on_{stream}": refuse})  # type: ignore[arg-type]

    async def scene() -> None:
        with pytest.raises(Mine):
            await AsyncSandbox.sharing(box).run("1", **{f"on_{stream}": refuse})  # type: ignore[arg-type]

    asyncio.run(scene())
    assert box._engine._gate._room == 64
    assert open_descriptors() == before


def test_callbacks_get_whole_characters() -> None:
    heard: dict[str, list[str]] = {"out": [], "err": []}
    box = Sandbox(backend=FakeBackend(Scripted(stdout="é".encode()[:1], stderr="ü")))
    box.run("1", on_stdout=heard["out"].append, on_stderr=heard["err"].append)
    assert heard == {"out": ["\ufffd"], "err": ["ü"]}


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ({"language": "nope"}, UsageError),
        ({"files": {"a": Path("/nonexistent/file")}}, UsageError),
        ({"filename": "a/b.py"}, UsageError),
        ({"source": "refused"}, SetupError),
        ({"source": "unknown"}, UsageError),
    ],
    ids=str,
)
def test_what_fails_early_leaves_nothing(tmp_path: Path, what: dict[str, Any], error: type[Exception]) -> None:
    (tmp_path / "in").write_text("x")
    backend = FakeBackend({"1": Scripted(), "refused": Scripted(refused="no")})
    box = Sandbox(backend=backend)
    asked = {"source": "1", **what, "files": {"in": tmp_path / "in", **what.get("files", {})}}
    before = open_descriptors()
    with pytest.raises(error):
        box.run(RunRequest(**asked), spill=tmp_path)
    assert box._engine._gate._room == 64
    assert open_descriptors() == before


def test_leaving_a_stream_gives_the_place_back() -> None:
    before = open_descriptors()
    box = Sandbox(backend=FakeBackend(Scripted(stdout="x", takes=60)))
    for _ in range(3):
        events = box.stream("1")
        assert isinstance(next(events), Output)
        assert box._engine._gate._room == 63
        events.close()
        assert box._engine._gate._room == 64
    assert open_descriptors() == before


def test_finished_is_the_last_event() -> None:
    events = list(Sandbox(backend=FakeBackend(Scripted(stdout="x"))).stream("1"))
    assert [type(event) for event in events] == [Output, Finished]


@pytest.mark.parametrize("make", [Sandbox, AsyncSandbox])
def test_without_a_name_it_is_the_default_backend(make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """And its floor is not that of a backend which was chosen by name."""
    asked: list[str] = []

    def look_up(name: str) -> Callable[..., FakeBackend]:
        asked.append(name)
        return lambda **_: FakeBackend(level=Level.REDUCED)

    monkeypatch.setattr("belljar.engine.backend_class", look_up)
    assert make()._engine.policy.level is Level.ROOTLESS
    assert asked == ["namespace"]
    with pytest.raises(SetupError, match="floor") as caught:
        Sandbox().run("1")
    assert caught.value.cure is not None
    assert "'reduced'" in caught.value.cure


def test_the_policy_of_a_shortcut_is_checked() -> None:
    with pytest.raises(UsageError):
        belljar.run("1", backend="local", policy={"level": "none"})  # type: ignore[arg-type]


def test_a_call_sorts_options_from_arguments() -> None:
    backend = FakeBackend(Scripted(value=1))
    Sandbox(backend=backend).call("x", "f", a=1, env={"K": "v"}, id="x", args=[1])
    (program,) = backend.programs
    assert program.call is not None
    assert program.call["kwargs"] == {"a": 1, "args": [1]}
    assert program.environment == {"K": "v"}


def test_a_shared_face_is_the_same_engine() -> None:
    box = Sandbox(backend=FakeBackend())
    twin = AsyncSandbox.sharing(box)
    assert twin._engine is box._engine
    asyncio.run(twin.close())
    assert box._engine.backend.closed
