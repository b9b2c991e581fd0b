"""Many runs: some at a time, results as they come, and no broken one ends the rest."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterable
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from belljar.engine import checked_workers
from belljar.errors import BelljarError, UsageError
from belljar.outcome import Outcome
from belljar.output import ErrorInfo
from belljar.report import Level, Report
from belljar.request import CallRequest, RunRequest
from belljar.result import Result
from belljar.usage import Usage
from belljar.waits import LoopWaits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable

    from belljar.engine import Engine
    from belljar.policy import Policy

_AHEAD = 4  # finished results that may wait for an earlier one, as a multiple of the workers


async def map_async(
    engine: Engine,
    requests: Iterable[Any] | AsyncIterable[Any],
    workers: int | None,
    ordered: bool,
    policy: Policy | None = None,
) -> AsyncGenerator[Result, None]:
    """Run `requests`, at most `workers` at a time."""
    room = engine.workers if workers is None else checked_workers(workers)
    source = _numbered(requests)
    runs: set[asyncio.Task[Result]] = set()
    pull: asyncio.Task[tuple[int, Any] | None] | None = None
    more, broken = True, None
    waiting: dict[int, Result] = {}
    turn = 0
    try:
        while True:
            if more and pull is None and len(runs) < room and len(waiting) < _AHEAD * room:
                pull = asyncio.create_task(_next(source))
            going = {*runs, pull} if pull is not None else runs
            if not going:
                break
            done, _ = await asyncio.wait(going, return_when=asyncio.FIRST_COMPLETED)
            if pull in done:
                assert pull is not None
                more, broken = _take_up(pull, runs, partial(_one, engine, policy or engine.policy))
                pull = None
            for run in [run for run in runs if run in done]:
                runs.discard(run)
                result = run.result()
                assert result.index is not None
                if not ordered:
                    yield result
                    continue
                waiting[result.index] = result
                while turn in waiting:
                    yield waiting.pop(turn)
                    turn += 1
        if broken is not None:
            raise broken
    finally:
        left = [*runs, *([pull] if pull else [])]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await source.aclose()


def map_in_thread(
    engine: Engine,
    requests: Iterable[Any],
    workers: int | None,
    ordered: bool,
    policy: Policy | None = None,
) -> Generator[Result, None, None]:
    """`map_async`, in a thread of its own, so that runs go on while the caller works on results."""
    room = engine.workers if workers is None else checked_workers(workers)
    if isinstance(requests, AsyncIterable):
        raise UsageError.about("requests", requests, "an iterable; an async one needs AsyncSandbox")
    return _Pump(map_async(engine, requests, room, ordered, policy), room).results()


class _Pump:
    """The thread, and the queue between it and the caller."""

    def __init__(self, stream: AsyncGenerator[Result, None], room: int) -> None:
        self._stream = stream
        self._queue: SimpleQueue[Result | BaseException | None] = SimpleQueue()
        self._slots = asyncio.Semaphore(2 * room)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def results(self) -> Generator[Result, None, None]:
        thread = threading.Thread(target=self._work, name="belljar-map", daemon=True)
        thread.start()
        try:
            while (item := self._queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                self._tell(self._slots.release)
                yield item
        finally:
            self._tell(lambda: self._task and self._task.cancel())
            thread.join()

    def _work(self) -> None:
        try:
            asyncio.run(self._pump())
        except asyncio.CancelledError:
            pass  # the caller has left
        except BaseException as error:  # noqa: BLE001  raised again where the caller is
            self._queue.put(error)
        finally:
            self._queue.put(None)

    async def _pump(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            async for result in self._stream:
                await self._slots.acquire()
                self._queue.put(result)
        finally:
            await self._stream.aclose()

    def _tell(self, what: Any) -> None:
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(what)
        except RuntimeError:
            pass  # the loop has ended by itself


def _take_up(
    pull: asyncio.Task[tuple[int, Any] | None],
    runs: set[asyncio.Task[Result]],
    start: Callable[[int, Any], Coroutine[Any, Any, Result]],
) -> tuple[bool, Exception | None]:
    """Start what was pulled. Returns whether there may be more, and the error with which the requests broke off."""
    try:
        item = pull.result()
    except Exception as error:  # noqa: BLE001  the caller's own iterator failed: it is raised when what runs is over
        return False, error
    if item is not None:
        runs.add(asyncio.create_task(start(*item)))
    return item is not None, None


async def _one(engine: Engine, policy: Policy, index: int, item: Any) -> Result:
    try:
        return await engine.run(_request(item), LoopWaits(), policy=policy, index=index)
    except BelljarError as error:
        outcome = Outcome.REJECTED if isinstance(error, UsageError) else Outcome.LOST
        return Result(
            id=getattr(item, "id", None) or f"item-{index}",
            index=index,
            outcome=outcome,
            error=ErrorInfo(type=type(error).__name__, message=str(error)),
            usage=Usage(),
            limits=getattr(item, "limits", None) or policy.limits,
            report=Report(level=Level.NONE),
        )


def _request(item: Any) -> RunRequest | CallRequest:
    return item if isinstance(item, RunRequest | CallRequest) else RunRequest(source=item)


async def _numbered(requests: Iterable[Any] | AsyncIterable[Any]) -> AsyncGenerator[tuple[int, Any], None]:
    index = 0
    if isinstance(requests, AsyncIterable):
        async for item in requests:
            yield index, item
            index += 1
    else:
        for item in requests:
            yield index, item
            index += 1


async def _next(source: AsyncGenerator[tuple[int, Any], None]) -> tuple[int, Any] | None:
    return await anext(source, None)
