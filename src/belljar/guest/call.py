"""Calls a function or method that the source defines, with JSON in and JSON out."""

from collections.abc import Awaitable, Callable, Mapping
from types import ModuleType
from typing import Any

from belljar.guest import failure, values
from belljar.guest.channel import Channel
from belljar.guest.runner import Header, Unparsable, begin, exit_code, main_module, reject, tell


def call(header: Header, source: bytes, path: str, channel: Channel) -> int:
    """Run the source as a module, call what the header names, answer with its result; returns the exit code."""
    module = main_module("main", header, source, path)
    wanted = header["call"]
    try:
        code = compile(source, header["filename"], "exec", dont_inherit=True)
    except Unparsable as error:
        return reject(error, channel)
    begin(channel)
    try:
        exec(code, module.__dict__)
        target = _find(module, wanted["function"], wanted["init"])
        result = _bound(target, wanted["function"], wanted["kwargs"])()
        if isinstance(result, Awaitable):
            import asyncio  # as many pages again as all of the guest: only where it is used

            result = asyncio.run(_wait_for(result))
        channel.claim("answer", {"value": _plain(result, wanted["function"])})
    except BaseException as error:  # noqa: BLE001  whatever ends the program is its end
        tell({"error": failure.describe(error)}, channel)
        return exit_code(error)
    return 0


def _find(module: ModuleType, name: str, init: dict[str, Any] | None) -> Callable[..., Any]:
    """The function, or the method of an instance that is made here."""
    first, *rest = name.split(".")
    if not hasattr(module, first):
        raise NameError(f"the source defines no {first!r}; it defines {_callables(vars(module)) or 'nothing to call'}")
    target = getattr(module, first)
    for attribute in rest:
        if isinstance(target, type):
            if not hasattr(target, attribute):
                methods = _callables(vars(target)) or "none"
                raise AttributeError(f"{target.__name__!r} has no method {attribute!r}; its methods are {methods}")
            target = _instance(target, init)
        target = getattr(target, attribute)
    if not callable(target):
        raise TypeError(f"{name!r} is not callable: it is of type {type(target).__name__}")
    return target  # type: ignore[no-any-return]


def _instance(cls: type, init: dict[str, Any] | None) -> object:
    """An instance: made with `init`; or, when that is not given, with `config={}` or with nothing, as it takes."""
    if init is not None:
        return _bound(cls, cls.__name__, init)()
    attempts: tuple[dict[str, Any], ...] = ({"config": {}}, {})
    for attempt in attempts:
        try:
            made = _bound(cls, cls.__name__, attempt)
        except TypeError:
            continue
        return made()
    import inspect

    raise TypeError(
        f"Failed to initialize {cls.__name__!r} with default attempts (config={{}}, then no arguments): "
        f"its constructor is {cls.__name__}{inspect.signature(cls)}; name its arguments by init="
    )


def _bound(target: Callable[..., Any], name: str, kwargs: dict[str, Any]) -> Callable[[], Any]:
    """`target` with its arguments, which are checked before anything runs."""
    import inspect

    try:
        signature = inspect.signature(target)
    except ValueError:
        return lambda: target(**kwargs)  # written in C, says nothing of its arguments
    try:
        signature.bind(**kwargs)
    except TypeError as error:
        raise TypeError(f"{name}{signature} cannot be called with {sorted(kwargs)}: {error}") from None
    return lambda: target(**kwargs)


async def _wait_for(awaitable: Any) -> Any:
    return await awaitable


def _plain(result: object, name: str) -> Any:
    try:
        return values.to_json(result)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the result of {name} is not JSON: {error}") from None


def _callables(names: Mapping[str, Any]) -> str:
    return ", ".join(name for name, value in names.items() if callable(value) and not name.startswith("_"))
