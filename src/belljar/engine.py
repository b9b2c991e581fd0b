"""One run, from request to result: read `Engine.stream` from top to bottom."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from belljar.backends.registry import DEFAULT, backend_class
from belljar.capture import Recorder, Spill
from belljar.claims import displays_of, error_of
from belljar.errors import UsageError
from belljar.events import Event, Finished, Sample
from belljar.exchange import Exchange
from belljar.files import close_inputs, open_inputs
from belljar.gate import Gate
from belljar.languages.registry import language
from belljar.outcome import classify
from belljar.output import Denial
from belljar.plan import check_floor
from belljar.policy import Policy
from belljar.report import Level
from belljar.request import CallRequest
from belljar.result import Result
from belljar.stdin import open_stdin
from belljar.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from belljar.backends.base import Backend
    from belljar.files import Collection
    from belljar.limits import Limits
    from belljar.report import Report
    from belljar.request import RunRequest
    from belljar.waits import Waits

_MOST_AT_ONCE = 64
_USAGE_EVERY = 0.5  # seconds between two samples for a callback


class Engine:
    """What `Sandbox` and `AsyncSandbox` share: a backend, a policy, and how many runs may live at a time."""

    def __init__(
        self,
        policy: Policy | None,
        *,
        limits: Limits | None = None,
        backend: str | Backend | None = None,
        preload: Iterable[str] = (),
        python: str | None = None,
        parked: int | None = None,
        workers: int | None = None,
    ) -> None:
        if isinstance(preload, str):
            raise UsageError.about("preload", preload, "a list of module names (like ['numpy'])")
        self.policy = _policy(policy, limits, backend)
        self.workers = checked_workers(workers)
        if parked is not None:
            _check_whole("parked", parked, 0)
        if backend is None or isinstance(backend, str):
            make = backend_class(backend or DEFAULT)
            self.backend: Backend = make(preload=preload, python=python, parked=parked)
        elif callable(getattr(backend, "acquire", None)):
            self.backend = backend
        else:
            raise UsageError.about("backend", backend, "the name of a backend (like 'namespace'), or one of one's own")
        self._gate = Gate(_MOST_AT_ONCE)

    async def run(
        self,
        request: RunRequest | CallRequest,
        waits: Waits,
        *,
        policy: Policy | None = None,
        on_stdout: Callable[[str], object] | None = None,
        on_stderr: Callable[[str], object] | None = None,
        on_usage: Callable[[Sample], object] | None = None,
        spill: str | os.PathLike[str] | None = None,
        index: int | None = None,
    ) -> Result:
        """The last event of `stream`, with the others going to the callbacks."""
        every = _USAGE_EVERY if on_usage is not None else None
        stream = self.stream(request, waits, policy=policy, spill=spill, usage_every=every, index=index)
        callbacks = {"stdout": on_stdout, "stderr": on_stderr}
        try:
            async for event in stream:
                if isinstance(event, Finished):
                    return event.result
                if isinstance(event, Sample):
                    if on_usage is not None:
                        on_usage(event)
                    continue
                callback = callbacks[event.stream]
                if callback is not None and event.text:
                    callback(event.text)
        finally:
            await stream.aclose()
        raise AssertionError("a stream of events always ends with Finished")

    async def stream(
        self,
        request: RunRequest | CallRequest,
        waits: Waits,
        *,
        policy: Policy | None = None,
        spill: str | os.PathLike[str] | None = None,
        usage_every: float | None = None,
        index: int | None = None,
    ) -> AsyncGenerator[Event, None]:
        """The whole of one run. Whatever ends it early, nothing of it is alive afterwards."""
        asked = time.monotonic()
        policy = self.policy if policy is None else _checked_policy(policy)
        limits = request.limits or policy.limits
        run = request.id or os.urandom(8).hex()
        plan = self.backend.plan(policy)
        with ExitStack() as opened:
            inputs = tuple(open_inputs(request.files, limits))
            opened.callback(close_inputs, inputs)
            program = language(request.language).program(request, inputs, {**plan.environment, **request.env})
            stdin = None if isinstance(request, CallRequest) else open_stdin(request.stdin, in_loop=waits.in_loop)
            if stdin:
                opened.callback(stdin.close)
            spilled = Spill(spill, run) if spill is not None else None
            if spilled:
                opened.callback(spilled.close)
            recorder = Recorder(limits.output, spilled.files if spilled else {})
            await self._gate.enter(waits)
            opened.callback(self._gate.leave)
            cell = await self.backend.acquire(plan, waits)
            opened.callback(cell.release)
            check_floor(policy, cell.report, self.backend.name)
            exchange = Exchange(cell, limits, recorder, policy.overflow, usage_every)
            try:
                await exchange.start(program, stdin)
                async for output in exchange.outputs():
                    yield output
            finally:
                await exchange.abandon()
            collection = cell.collect(inputs, limits)
        calls = isinstance(request, CallRequest)
        ended = _Ended(limits, recorder, exchange, collection, cell.report, self.backend.closed)
        yield Finished(ended.result(run, index, calls, spilled, exchange.began - asked))

    def close(self) -> None:
        """End all that runs, and give everything back."""
        self.backend.close()


class _Ended:
    """A run that is over, on its way to a `Result`."""

    def __init__(
        self,
        limits: Limits,
        recorder: Recorder,
        exchange: Exchange,
        collection: Collection,
        report: Report,
        closed: bool,
    ) -> None:
        self._limits, self._report, self._closed = limits, report, closed
        self._recorder, self._exchange, self._collection = recorder, exchange, collection

    def result(self, run: str, index: int | None, calls: bool, spilled: Spill | None, waited: float) -> Result:
        """Facts to outcome, claims to value and error, everything to the result."""
        exchange, recorder = self._exchange, self._recorder
        out, err = recorder.streams["stdout"], recorder.streams["stderr"]
        facts = exchange.facts(closed=self._closed, calls=calls)
        said: dict[str, Any] | None = exchange.rejection if facts.rejected else exchange.answer
        has_value = said is not None and "value" in said
        return Result(
            id=run,
            index=index,
            outcome=classify(facts),
            exit_code=facts.exit_code,
            signal=facts.signal,
            stdout=out.text,
            stderr=err.text,
            stdout_bytes=out.data,
            stderr_bytes=err.data,
            stdout_dropped=out.dropped,
            stderr_dropped=err.dropped,
            stdout_file=spilled.paths["stdout"] if spilled else None,
            stderr_file=spilled.paths["stderr"] if spilled else None,
            transcript=recorder.chunks(),
            value=said["value"] if said and has_value else None,
            has_value=has_value,
            error=error_of(said),
            displays=displays_of(said),
            files=self._collection.files,
            usage=self._usage(waited),
            limits=self._limits,
            limits_hit=tuple(sorted(exchange.limits_hit() | self._collection.hit)),
            report=self._report,
            denials=tuple(
                Denial(kind="syscall", name=name, count=count)
                for name, count in sorted(exchange.ending.denials.items())
            ),
        )

    def _usage(self, waited: float) -> Usage:
        exchange, ending = self._exchange, self._exchange.ending
        started = exchange.started_at or exchange.began
        return Usage(
            wall=exchange.ended_at - started,
            setup=waited + started - exchange.began,
            cpu_user=ending.cpu_user,
            cpu_system=ending.cpu_system,
            memory_peak=ending.memory_peak,
            processes_peak=ending.processes_peak,
            disk_bytes=self._collection.total,
            output_bytes=self._recorder.total,
        )


def _policy(policy: Policy | None, limits: Limits | None, backend: str | Backend | None) -> Policy:
    """The policy as given. Without one, naming the backend is accepting the level that it has."""
    if policy is None:
        name = backend if isinstance(backend, str) or backend is None else getattr(backend, "name", "")
        level = Level.ROOTLESS if name is None or name == DEFAULT else Level.NONE
        return Policy(limits=limits, level=level)
    _checked_policy(policy)
    return policy.replace(limits=limits) if limits is not None else policy


def _checked_policy(policy: object) -> Policy:
    if not isinstance(policy, Policy):
        raise UsageError.about("policy", policy, "a Policy object")
    return policy


def checked_workers(workers: int | None) -> int:
    """How many runs `map` has going at a time."""
    if workers is None:
        return 2 * (os.cpu_count() or 1)
    _check_whole("workers", workers, 1)
    return workers


def _check_whole(field: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_AT_ONCE:
        raise UsageError.about(field, value, f"a whole number from {least} to {_MOST_AT_ONCE}")
