"""Runs source as a real `__main__`, and brings back the value of its last expression."""

import __future__

import ast
import builtins
import linecache
import os
import signal
import sys
from types import CodeType, ModuleType
from typing import Any

from belljar.guest import failure, values
from belljar.guest.channel import Channel, TooLongError

INTERRUPTED = 130
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag

Header = dict[str, Any]
Unparsable = (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError)


def run(header: Header, source: bytes, path: str, channel: Channel) -> int:
    """Run the program; returns its exit code."""
    module = main_module("__main__", header, source, path)
    try:
        body, last = compile_source(source, header["filename"])
    except Unparsable as error:
        return reject(error, channel)
    answer: dict[str, Any] = {"displays": []}
    begin(channel)
    try:
        exec(body, module.__dict__)
        if last is not None:
            _keep(eval(last, module.__dict__), answer)
        code = 0
    except BaseException as error:  # noqa: BLE001  whatever ends the program is its end
        answer["error"] = failure.describe(error)
        code = exit_code(error)
    tell(answer, channel)
    return code


def compile_source(source: bytes | str, filename: str) -> tuple[CodeType, CodeType | None]:
    """The code of a program, and that of its last expression apart, when it ends in one."""
    tree = ast.parse(source, filename)
    last: CodeType | None = None
    final = tree.body[-1] if tree.body else None
    if not isinstance(final, ast.Expr):
        return compile(tree, filename, "exec", dont_inherit=True), None
    if len(tree.body) > 1 or ast.get_docstring(tree, clean=False) is None:
        del tree.body[-1]  # a docstring alone is both: it stays to be one
    body = compile(tree, filename, "exec", dont_inherit=True)
    expression = ast.Expression(final.value)
    last = compile(expression, filename, "eval", body.co_flags & _FUTURE, dont_inherit=True)
    return body, last


def main_module(name: str, header: Header, source: bytes, path: str) -> ModuleType:
    """Make the program the main module of this process, as the interpreter does for a file."""
    module = ModuleType(name)
    module.__dict__.update({"__file__": path, "__builtins__": builtins, "__annotations__": {}})
    sys.modules["__main__"] = sys.modules[name] = module
    sys.argv[:] = [header["filename"], *header["args"]]
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[header["filename"]] = (len(source), None, lines, header["filename"])
    return module


def begin(channel: Channel) -> None:
    """From here on it is the program that acts: it can be interrupted, imports its files, and the host is told."""
    channel.claim("started", True)
    sys.path.insert(0, os.getcwd())  # not before: compiling may import a codec
    signal.signal(signal.SIGINT, signal.default_int_handler)


def reject(error: BaseException, channel: Channel) -> int:
    """It does not compile: nothing of it has run."""
    error.__traceback__ = None  # only the compiler's frames and ours
    channel.claim("rejected", {"error": failure.describe(error)})
    failure.show(error)
    return 1


def exit_code(error: BaseException) -> int:
    """The exit code with which the interpreter would end on `error`, which is shown on stderr."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xFF
        print(failure.text_of(error.code), file=sys.stderr)
        return 1
    failure.show(error)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def tell(answer: dict[str, Any], channel: Channel) -> None:
    """Send the answer; one that is too long for a frame goes without its value and displays."""
    try:
        channel.claim("answer", answer)
    except TooLongError:
        channel.claim("answer", {"error": answer["error"]} if "error" in answer else {})


def _keep(value: object, answer: dict[str, Any]) -> None:
    if value is None:
        return
    try:
        answer["value"] = values.to_json(value)
    except (TypeError, ValueError):
        pass  # not JSON: the display is all that comes back
    answer["displays"] = [values.display(value)]
