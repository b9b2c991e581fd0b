"""What users hold: `Sandbox`, and `AsyncSandbox` for asyncio. Both are thin; the run itself is in `engine.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack, cast

from belljar.engine import Engine
from belljar.errors import UsageError
from belljar.request import CallRequest, RunRequest
from belljar.waits import LoopWaits, ThreadWaits, drive

if TYPE_CHECKING:
    import os
    from collections.abc import (
        AsyncGenerator,
        AsyncIterable,
        AsyncIterator,
        Callable,
        Generator,
        Iterable,
        Mapping,
    )
    from types import TracebackType

    from belljar.backends.base import Backend
    from belljar.events import Event, Sample
    from belljar.limits import Limits
    from belljar.policy import Policy
    from belljar.request import InputFile, Stdin
    from belljar.result import Result


class RunOptions(TypedDict, total=False):
    """What a run can be given beside its source: the fields of `RunRequest`."""

    language: str
    args: Iterable[str]
    stdin: Stdin
    files: Mapping[str, InputFile]
    env: Mapping[str, str]
    limits: Limits | None
    filename: str | None
    id: str | None


class CallOptions(TypedDict, total=False):
    """What a call can be given beside its source and arguments: fields of `CallRequest`."""

    language: str
    files: Mapping[str, InputFile]
    env: Mapping[str, str]
    limits: Limits | None
    filename: str | None
    id: str | None


class WatchOptions(TypedDict, total=False):
    """How a run is watched: callbacks for its output as text and for what it uses, a directory for the whole output."""

    on_stdout: Callable[[str], object] | None
    on_stderr: Callable[[str], object] | None
    on_usage: Callable[[Sample], object] | None
    spill: str | os.PathLike[str] | None


class SandboxOptions(TypedDict, total=False):
    """How a sandbox is made: what to import before each run, by which interpreter, how many cells wait."""

    limits: Limits | None
    backend: str | Backend | None
    preload: Iterable[str]
    python: str | None
    parked: int | None
    workers: int | None


class _RunAndWatch(RunOptions, WatchOptions, total=False):
    pass


Source = str | bytes | RunRequest


class Sandbox:
    """Runs code in fresh cells, one for each run.

    `policy` says what the code may; `limits` is short for a policy that has only those. `backend` is a name, or a
    backend of one's own. `preload` names modules that every cell has already imported. `parked` is the most cells that
    wait for a run (how many do follows the use), `workers` the number of runs that `map` has going at a time. Every
    method can be called from any thread.
    """

    def __init__(self, policy: Policy | None = None, **options: Unpack[SandboxOptions]) -> None:
        self._engine = Engine(policy, **options)

    def run(self, source: Source, **options: Unpack[_RunAndWatch]) -> Result:
        """Run a program in a fresh cell. Whatever the code does, the answer is a `Result`."""
        watch, rest = split(options)
        return drive(self._engine.run(run_request(source, rest), ThreadWaits(), **watch))

    def call(
        self,
        source: str | bytes | CallRequest,
        function: str = "main",
        *,
        init: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Result:
        """Call a function of the source (`"main"`, `"Tool.run"`) with keyword arguments; its result is `value`.

        Names of `CallOptions` are options; for arguments that have such a name, pass a `CallRequest`.
        """
        return drive(self._engine.run(call_request(source, function, init, options), ThreadWaits()))

    def stream(
        self,
        source: Source,
        *,
        spill: str | os.PathLike[str] | None = None,
        usage_every: float | None = None,
        **options: Unpack[RunOptions],
    ) -> Generator[Event, None, None]:
        """Run a program and yield its output as it comes, `Finished` last. Leaving the loop early ends the run.

        With `usage_every` seconds, a `Sample` of what it uses comes between.
        """
        request = run_request(source, options)
        events = self._engine.stream(request, ThreadWaits(), spill=spill, usage_every=usage_every)
        return _step_through(events)

    def map(
        self,
        requests: Iterable[Source | CallRequest],
        *,
        workers: int | None = None,
        ordered: bool = False,
    ) -> Generator[Result, None, None]:
        """Run many, some at a time, and yield results as they come, or in the order of the requests.

        A request that cannot be run yields a result too; `index` is its place. `requests` is read by a thread of ours,
        not far ahead of what is running.
        """
        from belljar.batch import map_in_thread  # brings asyncio, which most of the time nobody needs

        return map_in_thread(self._engine, requests, workers, ordered)

    def close(self) -> None:
        """End what still runs, and leave nothing behind."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSandbox:
    """`Sandbox` for asyncio: the same, awaited. Cancelling the task ends the run."""

    def __init__(self, policy: Policy | None = None, **options: Unpack[SandboxOptions]) -> None:
        self._engine = Engine(policy, **options)

    @classmethod
    def sharing(cls, sandbox: Sandbox) -> Self:
        """The async face of a `Sandbox`: the same cells and policy. Closing either closes both."""
        twin = cls.__new__(cls)
        twin._engine = sandbox._engine
        return twin

    async def run(self, source: Source, **options: Unpack[_RunAndWatch]) -> Result:
        """See `Sandbox.run`."""
        watch, rest = split(options)
        return await self._engine.run(run_request(source, rest), LoopWaits(), **watch)

    async def call(
        self,
        source: str | bytes | CallRequest,
        function: str = "main",
        *,
        init: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Result:
        """See `Sandbox.call`."""
        return await self._engine.run(call_request(source, function, init, options), LoopWaits())

    def stream(
        self,
        source: Source,
        *,
        spill: str | os.PathLike[str] | None = None,
        usage_every: float | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncGenerator[Event, None]:
        """See `Sandbox.stream`."""
        request = run_request(source, options)
        return self._engine.stream(request, LoopWaits(), spill=spill, usage_every=usage_every)

    def map(
        self,
        requests: Iterable[Source | CallRequest] | AsyncIterable[Source | CallRequest],
        *,
        workers: int | None = None,
        ordered: bool = False,
    ) -> AsyncIterator[Result]:
        """See `Sandbox.map`."""
        from belljar.batch import map_async

        return map_async(self._engine, requests, workers, ordered)

    async def close(self) -> None:
        """See `Sandbox.close`."""
        import asyncio

        await asyncio.to_thread(self._engine.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def run_request(source: Source, options: RunOptions) -> RunRequest:
    """The request for a run, from either way to ask."""
    if not isinstance(source, RunRequest):
        return RunRequest(source=source, **options)
    if options:
        raise UsageError(f"a RunRequest says it all: {', '.join(options)} cannot be given beside it")
    return source


def call_request(
    source: str | bytes | CallRequest, function: str, init: Mapping[str, Any] | None, given: dict[str, Any]
) -> CallRequest:
    """The request for a call, from either way to ask."""
    if isinstance(source, CallRequest):
        if given or init is not None:
            raise UsageError("a CallRequest says it all: nothing can be given beside it")
        return source
    options = cast("CallOptions", {name: given[name] for name in given if name in CallOptions.__annotations__})
    kwargs = {name: given[name] for name in given if name not in options}
    return CallRequest(source=source, function=function, kwargs=kwargs, init=init, **options)


def split(options: Mapping[str, Any]) -> tuple[WatchOptions, RunOptions]:
    """The options of a run: how it is watched, and what is asked."""
    names = WatchOptions.__annotations__
    watch = {name: value for name, value in options.items() if name in names}
    rest = {name: value for name, value in options.items() if name not in names}
    return cast("WatchOptions", watch), cast("RunOptions", rest)


def _step_through(events: AsyncGenerator[Event, None]) -> Generator[Event, None, None]:
    try:
        while True:
            try:
                yield drive(events.__anext__())
            except StopAsyncIteration:
                return
    finally:
        drive(events.aclose())
