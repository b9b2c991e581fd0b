"""`belljar.run` and its kin: for a script that needs no sandbox of its own. They share one sandbox for each backend."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Unpack

from belljar.backends.registry import DEFAULT
from belljar.engine import Engine
from belljar.sandbox import RunOptions, Source, WatchOptions, call_request, run_request, split
from belljar.waits import LoopWaits, ThreadWaits, drive

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Mapping

    from belljar.limits import Limits
    from belljar.policy import Policy
    from belljar.request import CallRequest
    from belljar.result import Result


class ShortcutOptions(RunOptions, WatchOptions, total=False):
    """What `run` takes beside the source."""

    policy: Policy | None
    backend: str | None


_engines: dict[str, Engine] = {}
_lock = Lock()


def run(source: Source, **options: Unpack[ShortcutOptions]) -> Result:
    """Run a program in a fresh cell: see `Sandbox.run`. `policy` and `backend` are for this run."""
    engine, policy = _engine(options.pop("backend", None), options.pop("policy", None))
    watch, rest = split(options)
    return drive(engine.run(run_request(source, rest), ThreadWaits(), policy=policy, **watch))


async def arun(source: Source, **options: Unpack[ShortcutOptions]) -> Result:
    """`run` for asyncio."""
    engine, policy = _engine(options.pop("backend", None), options.pop("policy", None))
    watch, rest = split(options)
    return await engine.run(run_request(source, rest), LoopWaits(), policy=policy, **watch)


def call(
    source: str | bytes | CallRequest,
    function: str = "main",
    *,
    init: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    backend: str | None = None,
    **options: Any,
) -> Result:
    """Call a function of the source with keyword arguments: see `Sandbox.call`."""
    engine, policy = _engine(backend, policy)
    return drive(engine.run(call_request(source, function, init, options), ThreadWaits(), policy=policy))


async def acall(
    source: str | bytes | CallRequest,
    function: str = "main",
    *,
    init: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    backend: str | None = None,
    **options: Any,
) -> Result:
    """`call` for asyncio."""
    engine, policy = _engine(backend, policy)
    return await engine.run(call_request(source, function, init, options), LoopWaits(), policy=policy)


def map(  # noqa: A001  as users of Python expect it
    requests: Iterable[Source | CallRequest],
    *,
    workers: int | None = None,
    ordered: bool = False,
    limits: Limits | None = None,
    policy: Policy | None = None,
    backend: str | None = None,
) -> Generator[Result, None, None]:
    """Run many: see `Sandbox.map`."""
    from belljar.batch import map_in_thread

    engine, policy = _engine(backend, policy)
    return map_in_thread(engine, requests, workers, ordered, _with(policy or engine.policy, limits))


def amap(
    requests: Iterable[Source | CallRequest] | AsyncIterable[Source | CallRequest],
    *,
    workers: int | None = None,
    ordered: bool = False,
    limits: Limits | None = None,
    policy: Policy | None = None,
    backend: str | None = None,
) -> AsyncGenerator[Result, None]:
    """`map` for asyncio."""
    from belljar.batch import map_async

    engine, policy = _engine(backend, policy)
    return map_async(engine, requests, workers, ordered, _with(policy or engine.policy, limits))


def _engine(backend: str | None, policy: Policy | None) -> tuple[Engine, Policy | None]:
    name = backend or DEFAULT
    with _lock:
        if name not in _engines:
            _engines[name] = Engine(None, backend=name)
        return _engines[name], policy


def _with(policy: Policy, limits: Limits | None) -> Policy:
    return policy if limits is None else policy.replace(limits=limits)
