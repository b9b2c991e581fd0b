"""The gate: as many as agreed, first come first served, and nobody who gives up takes a place with him."""

import asyncio
import gc
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.needs import need

from belljar.gate import Gate
from belljar.testing.contract.base import wait_until
from belljar.waits import LoopWaits, ThreadWaits, drive


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("linux")


def open_descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


class Counter:
    """How many are inside, and the most there ever were."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = self.most = self.came = 0

    def enter(self) -> None:
        with self.lock:
            self.inside += 1
            self.came += 1
            self.most = max(self.most, self.inside)

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1


def in_thread(gate: Gate, counter: Counter, times: int) -> None:
    for _ in range(times):
        drive(gate.enter(ThreadWaits()))
        counter.enter()
        os.sched_yield()
        counter.leave()
        gate.leave()


async def in_loop(gate: Gate, counter: Counter, times: int) -> None:
    for _ in range(times):
        await gate.enter(LoopWaits())
        counter.enter()
        await asyncio.sleep(0)
        counter.leave()
        gate.leave()


@pytest.mark.parametrize("room", [1, 3])
def test_never_more_than_room_inside(room: int) -> None:
    gate, counter, before = Gate(room), Counter(), open_descriptors()

    async def together() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(6) as pool:
            threads = [loop.run_in_executor(pool, in_thread, gate, counter, 50) for _ in range(6)]
            await asyncio.gather(*threads, *(in_loop(gate, counter, 50) for _ in range(6)))

    asyncio.run(together())
    assert counter.came == 600
    assert counter.most == room
    assert gate._room == room
    assert not gate._queue
    assert open_descriptors() == before


def test_first_come_first_served_in_a_loop() -> None:
    async def line() -> list[int]:
        gate, order = Gate(1), []
        await gate.enter(LoopWaits())

        async def one(number: int) -> None:
            await gate.enter(LoopWaits())
            order.append(number)
            gate.leave()

        tasks = []
        for number in range(20):
            tasks.append(asyncio.create_task(one(number)))
            await asyncio.sleep(0)
        assert len(gate._queue) == 20
        gate.leave()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(line()) == list(range(20))


def test_first_come_first_served_among_threads() -> None:
    gate, order = Gate(1), list[int]()
    drive(gate.enter(ThreadWaits()))

    def one(number: int) -> None:
        drive(gate.enter(ThreadWaits()))
        order.append(number)
        gate.leave()

    threads = []
    for number in range(10):
        threads.append(threading.Thread(target=one, args=(number,)))
        threads[-1].start()
        wait_until(lambda wanted=number + 1: len(gate._queue) == wanted, "the thread waits")  # type: ignore[misc]
    gate.leave()
    for thread in threads:
        thread.join()
    assert order == list(range(10))


def test_nobody_overtakes_the_line() -> None:
    """A place that is free for a moment goes to who waits, not to who comes."""
    gate, events = Gate(1), list[str]()

    async def scene() -> None:
        await gate.enter(LoopWaits())

        async def waiting() -> None:
            await gate.enter(LoopWaits())
            events.append("first")
            gate.leave()

        task = asyncio.create_task(waiting())
        await asyncio.sleep(0)
        gate.leave()
        await gate.enter(LoopWaits())
        events.append("late")
        gate.leave()
        await task

    asyncio.run(scene())
    assert events == ["first", "late"]


async def _given_up_in_line(gate: Gate, task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.leave()


async def _given_up_when_called(gate: Gate, task: asyncio.Task[Any]) -> None:
    gate.leave()  # the place is the waiter's from here on
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _given_up_when_woken(gate: Gate, task: asyncio.Task[Any]) -> None:
    gate.leave()
    woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0, woken.set_result, None)
    await woken
    task.cancel()  # the loop has seen the descriptor, or will in this round; either way it must not be lost
    try:
        await task
    except asyncio.CancelledError:
        return
    gate.leave()


@pytest.mark.parametrize("give_up", [_given_up_in_line, _given_up_when_called, _given_up_when_woken])
def test_giving_up_loses_no_place_and_no_descriptor(
    give_up: Callable[[Gate, asyncio.Task[Any]], Awaitable[None]],
) -> None:
    async def scene() -> None:
        gate, before = Gate(1), open_descriptors()
        for _ in range(20):
            await gate.enter(LoopWaits())
            task = asyncio.create_task(gate.enter(LoopWaits()))
            await asyncio.sleep(0)
            assert len(gate._queue) == 1
            await give_up(gate, task)
            assert gate._room == 1
            assert not gate._queue
        assert open_descriptors() == before

    asyncio.run(scene())


def test_who_gives_up_with_the_place_hands_it_on() -> None:
    async def scene() -> None:
        gate = Gate(1)
        await gate.enter(LoopWaits())
        first, second = (asyncio.create_task(gate.enter(LoopWaits())) for _ in range(2))
        await asyncio.sleep(0)
        gate.leave()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await asyncio.wait_for(second, 10)
        assert gate._room == 0

    asyncio.run(scene())


def test_a_wait_that_raises_in_a_thread_loses_nothing() -> None:
    class Broken(ThreadWaits):
        async def ready(self, *_: object, **__: object) -> list[int]:
            raise KeyboardInterrupt

    gate, before = Gate(1), open_descriptors()
    drive(gate.enter(ThreadWaits()))
    with pytest.raises(KeyboardInterrupt):
        drive(gate.enter(Broken()))
    assert not gate._queue
    gate.leave()
    assert gate._room == 1
    assert open_descriptors() == before
