"""Both waits, and `drive`: the one way in which the engine waits."""

import asyncio
import contextlib
import os
import select
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from belljar.waits import LoopWaits, ThreadWaits, Waits, drive

T = TypeVar("T")
Body = Callable[[Waits], Awaitable[T]]


def in_thread(body: Callable[[Waits], Any]) -> Any:
    return drive(body(ThreadWaits()))


def in_loop(body: Callable[[Waits], Any]) -> Any:
    async def scene() -> Any:
        before = registered()
        try:
            return await body(LoopWaits())
        finally:
            assert registered() == before

    return asyncio.run(scene())


def registered() -> int:
    """How many descriptors the running loop watches."""
    return len(asyncio.get_running_loop()._selector.get_map())  # type: ignore[attr-defined]


@pytest.fixture(params=[in_thread, in_loop], ids=["thread", "loop"])
def do(request: pytest.FixtureRequest) -> Callable[[Callable[[Waits], Any]], Any]:
    chosen: Callable[[Callable[[Waits], Any]], Any] = request.param
    return chosen


Do = Callable[[Callable[[Waits], Any]], Any]


@contextlib.contextmanager
def pipes(count: int) -> Iterator[list[tuple[int, int]]]:
    made = [os.pipe() for _ in range(count)]
    try:
        yield made
    finally:
        for pipe in made:
            for fd in pipe:
                with contextlib.suppress(OSError):
                    os.close(fd)


def test_readable(do: Do) -> None:
    with pipes(3) as made:
        os.write(made[1][1], b"x")
        assert do(lambda waits: waits.ready([outlet for outlet, _ in made])) == [made[1][0]]


def test_all_that_are_readable(do: Do) -> None:
    with pipes(3) as made:
        for _, inlet in made[:2]:
            os.write(inlet, b"x")
        found = do(lambda waits: waits.ready([outlet for outlet, _ in made]))
        assert sorted(found) == sorted(outlet for outlet, _ in made[:2])


def test_the_end_is_readable(do: Do) -> None:
    with pipes(1) as [(outlet, inlet)]:
        os.close(inlet)
        assert do(lambda waits: waits.ready([outlet])) == [outlet]


def test_writable(do: Do) -> None:
    with pipes(2) as [(_, free), (_, full)]:
        os.set_blocking(full, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(full, b"x" * 65536)
        assert do(lambda waits: waits.ready((), (full, free))) == [free]


def test_a_writer_whose_reader_left_is_writable(do: Do) -> None:
    with pipes(1) as [(outlet, inlet)]:
        os.close(outlet)
        assert do(lambda waits: waits.ready((), (inlet,))) == [inlet]


def test_reads_and_writes_together(do: Do) -> None:
    with pipes(2) as [(outlet, inlet), (_, free)]:
        os.write(inlet, b"x")
        assert sorted(do(lambda waits: waits.ready([outlet], (free,)))) == sorted([outlet, free])


@pytest.mark.parametrize("ahead", [0.05, 0.0, -5.0])
def test_none_when_the_moment_has_come(do: Do, ahead: float) -> None:
    with pipes(1) as [(outlet, _)]:
        began = time.monotonic()
        assert do(lambda waits: waits.ready([outlet], (), began + ahead)) == []
        assert time.monotonic() >= began + ahead


def test_what_is_ready_comes_before_the_moment(do: Do) -> None:
    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        began = time.monotonic()
        assert do(lambda waits: waits.ready([outlet], (), began + 60)) == [outlet]
        assert time.monotonic() - began < 30


def test_nothing_but_a_moment(do: Do) -> None:
    assert do(lambda waits: waits.ready((), (), time.monotonic() + 0.01)) == []


@pytest.mark.parametrize(
    "far",
    [
        86_400.0,
        pytest.param(40 * 86_400.0),
        pytest.param(1e9),
    ],
)
def test_a_moment_far_away_in_a_thread(far: float) -> None:
    """1e9 seconds is the longest time that `Limits` takes."""
    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        assert drive(ThreadWaits().ready([outlet], (), time.monotonic() + far)) == [outlet]


@pytest.mark.parametrize("far", [86_400.0, 1e9])
def test_a_moment_far_away_in_a_loop(far: float) -> None:
    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        assert asyncio.run(LoopWaits().ready([outlet], (), time.monotonic() + far)) == [outlet]


def test_other_descriptors_the_next_time(do: Do) -> None:
    async def scene(waits: Waits) -> list[list[int]]:
        first = await waits.ready([made[0][0], made[1][0]])
        os.read(made[0][0], 1)
        os.write(made[2][1], b"x")
        return [first, await waits.ready([made[1][0], made[2][0]]), await waits.ready((), (made[0][1],))]

    with pipes(3) as made:
        os.write(made[0][1], b"x")
        assert do(scene) == [[made[0][0]], [made[2][0]], [made[0][1]]]


def test_a_thread_that_waits_for_the_same_again_registers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[None] = []
    real = select.poll

    def poll() -> "select.poll":
        made.append(None)
        return real()

    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        waits = ThreadWaits()
        monkeypatch.setattr(select, "poll", poll)
        for _ in range(5):
            assert drive(waits.ready([outlet], [])) == [outlet]
        assert len(made) == 1


def test_a_thread_that_waits_for_reads_only_registers_once() -> None:
    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        waits = ThreadWaits()
        drive(waits.ready([outlet]))
        poll = waits._poll
        drive(waits.ready([outlet]))
        assert waits._poll is poll


@pytest.mark.parametrize("moment", [None, 60.0])
def test_a_cancelled_wait_leaves_nothing_in_the_loop(moment: float | None) -> None:
    async def scene() -> None:
        before = registered()
        until = None if moment is None else time.monotonic() + moment
        task = asyncio.create_task(LoopWaits().ready([outlet], (full,), until))
        await asyncio.sleep(0)
        assert registered() == before + 2
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert registered() == before
        timers = [timer for timer in asyncio.get_running_loop()._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        assert timers == []

    with pipes(2) as [(outlet, _), (_, full)]:
        os.set_blocking(full, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(full, b"x" * 65536)
        asyncio.run(scene())


def test_a_descriptor_that_epoll_refuses_leaves_nothing_in_the_loop(tmp_path: Path) -> None:
    async def scene() -> tuple[int, int]:
        before = registered()
        with contextlib.suppress(OSError):
            await LoopWaits().ready([outlet, file.fileno()])
        return before, registered()

    (tmp_path / "file").write_text("x")
    with pipes(1) as [(outlet, _)], open(tmp_path / "file") as file:
        before, after = asyncio.run(scene())
    assert after == before


def test_which_of_them_is_in_a_loop() -> None:
    assert (ThreadWaits.in_loop, LoopWaits.in_loop) == (False, True)


def test_drive_returns_what_nested_coroutines_return() -> None:
    async def inner(waits: Waits, fd: int) -> int:
        return len(await waits.ready([fd]))

    async def middle(waits: Waits, fd: int) -> int:
        return sum([await inner(waits, fd) for _ in range(3)])

    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        assert drive(middle(ThreadWaits(), outlet)) == 3


def test_drive_raises_what_the_coroutine_raises() -> None:
    async def broken() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        drive(broken())


@pytest.mark.parametrize("result", [None, 0, (), StopAsyncIteration, (1, 2)])
def test_drive_returns_any_value(result: object) -> None:
    async def returns() -> object:
        return result

    assert drive(returns()) is result


def test_drive_refuses_a_coroutine_that_suspends_and_closes_it() -> None:
    closed: list[bool] = []

    async def suspends() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            closed.append(True)

    with pytest.raises(RuntimeError, match="something else than its waits"):
        drive(suspends())
    assert closed == [True]


def test_drive_inside_a_running_loop() -> None:
    async def scene() -> list[int]:
        return drive(ThreadWaits().ready([outlet]))

    with pipes(1) as [(outlet, inlet)]:
        os.write(inlet, b"x")
        assert asyncio.run(scene()) == [outlet]
