"""What is asked: code to run, or a function to call."""

import keyword
import os
from collections.abc import AsyncIterable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any, TypeAlias, cast

from belljar.errors import UsageError, shown
from belljar.limits import Limits
from belljar.policy import check_env, is_utf8
from belljar.quantities import FrozenMap

Stdin: TypeAlias = bytes | str | IO[bytes] | IO[str] | Iterable[bytes | str] | AsyncIterable[bytes | str] | None
InputFile: TypeAlias = bytes | str | os.PathLike[str]

MAX_DEPTH = 100
MAX_PARTS = 32
MAX_PART = 255
MAX_INT_BITS = 14_000  # Python reads and writes at most 4300 digits


@dataclass(frozen=True, slots=True, init=False)
class RunRequest:
    """Code to run as a program.

    `files` are written before the code starts: bytes and text as they are; a path names a file of the host.
    `filename` is what tracebacks call the source. `limits` replace those of the policy for this run.
    """

    source: str
    language: str
    args: tuple[str, ...]
    stdin: Stdin
    files: Mapping[str, InputFile]
    env: Mapping[str, str]
    limits: Limits | None
    filename: str | None
    id: str | None

    def __init__(
        self,
        *,
        source: str | bytes,
        language: str = "python",
        args: Iterable[str] = (),
        stdin: Stdin = None,
        files: Mapping[str, InputFile] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        filename: str | None = None,
        id: str | None = None,  # noqa: A002 (its name in every JSON form)
    ) -> None:
        _put_common(self, source, language, files, env, limits, filename, id)
        object.__setattr__(self, "args", _check_args(args))
        object.__setattr__(self, "stdin", _check_stdin(stdin))


@dataclass(frozen=True, slots=True, init=False)
class CallRequest:
    """A function to call: "main", or "Tool.run" for a method of an object made with `init`.

    `kwargs` and `init` are kept as the JSON values that the code will see (so a tuple is a list).
    """

    source: str
    function: str
    kwargs: Mapping[str, Any]
    init: Mapping[str, Any] | None
    language: str
    files: Mapping[str, InputFile]
    env: Mapping[str, str]
    limits: Limits | None
    filename: str | None
    id: str | None

    def __init__(
        self,
        *,
        source: str | bytes,
        function: str = "main",
        kwargs: Mapping[str, Any] | None = None,
        init: Mapping[str, Any] | None = None,
        language: str = "python",
        files: Mapping[str, InputFile] | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        filename: str | None = None,
        id: str | None = None,  # noqa: A002 (its name in every JSON form)
    ) -> None:
        _put_common(self, source, language, files, env, limits, filename, id)
        put = object.__setattr__
        put(self, "function", _check_function(function))
        put(self, "kwargs", _check_arguments("kwargs", {} if kwargs is None else kwargs))
        put(self, "init", None if init is None else _check_arguments("init", init))
        if init is not None and "." not in self.function:
            raise UsageError.about(
                "function", function, "a method (like Tool.run): `init` makes the object that it belongs to"
            )


def _put_common(
    request: RunRequest | CallRequest,
    source: object,
    language: object,
    files: object,
    env: object,
    limits: object,
    filename: object,
    ident: object,
) -> None:
    if not isinstance(limits, (Limits, type(None))):
        raise UsageError.about("limits", limits, "a Limits object")
    put = object.__setattr__
    put(request, "source", _check_source(source))
    put(request, "language", _check_word("language", language, 64, "the name of a language (like python)"))
    put(request, "files", check_files("files", {} if files is None else files))
    put(request, "env", check_env("env", {} if env is None else env))
    put(request, "limits", limits)
    put(request, "filename", None if filename is None else check_file_name("filename", filename))
    accepted = "1 to 200 characters that can be printed"
    put(request, "id", None if ident is None else _check_word("id", ident, 200, accepted))


def check_file_name(field: str, name: object) -> str:
    """The name, if it is a plain relative path that stays below the directory it is used in."""
    if not isinstance(name, str) or not name:
        raise UsageError.about(field, name, "a relative path (like data/a.csv)")
    parts = name.split("/")
    if name.startswith("/"):
        raise UsageError.about(field, name, "a relative path, without the leading '/'")
    if any(part in ("", ".", "..") for part in parts):
        raise UsageError.about(field, name, "a path without empty parts, '.' and '..'")
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in name) or not is_utf8(name):
        raise UsageError.about(field, name, "a path of UTF-8 text without control characters")
    if len(parts) > MAX_PARTS or any(len(part.encode()) > MAX_PART for part in parts):
        accepted = f"a path of at most {MAX_PARTS} parts of at most {MAX_PART} bytes"
        raise UsageError.about(field, name, accepted)
    return str(name)


def check_files(field: str, files: object) -> FrozenMap[str, InputFile]:
    """Input files, if their names are good and none is the directory of another."""
    if not isinstance(files, Mapping):
        raise UsageError.about(field, files, "a mapping of names to contents")
    for name, content in files.items():
        check_file_name(f"{field} (a name)", name)
        if not isinstance(content, (bytes, str, os.PathLike)):
            accepted = "bytes, text, or the path of a file of the host"
            raise UsageError.about(f"{field}[{name!r}]", content, accepted)
        if isinstance(content, str) and not is_utf8(content):
            raise UsageError.about(f"{field}[{name!r}]", content, "text that can be written as UTF-8, or bytes")
    for name in files:
        for end, char in enumerate(name):
            if char == "/" and name[:end] in files:
                raise UsageError.about(f"{field} (a name)", name, f"another name: '{name[:end]}' is a file")
    return FrozenMap(files)


def _check_source(source: object) -> str:
    accepted = "source code as text, or as bytes of UTF-8"
    if isinstance(source, bytes):
        try:
            return source.decode()
        except UnicodeDecodeError:
            raise UsageError.about("source", source, accepted) from None
    if not isinstance(source, str) or not is_utf8(source):
        raise UsageError.about("source", source, accepted)
    return str(source)


def _check_word(field: str, value: object, longest: int, accepted: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
        raise UsageError.about(field, value, accepted)
    return str(value)


def _check_args(args: object) -> tuple[str, ...]:
    if isinstance(args, (str, bytes, Mapping)) or not isinstance(args, Iterable):
        raise UsageError.about("args", args, "a list of strings")
    items = tuple(cast("Iterable[object]", args))
    for index, item in enumerate(items):
        if not isinstance(item, str) or "\0" in item or not is_utf8(item):
            raise UsageError.about(f"args[{index}]", item, "a string without NUL")
    return cast("tuple[str, ...]", items)


def _check_stdin(stdin: object) -> Stdin:
    if isinstance(stdin, str) and not is_utf8(stdin):
        raise UsageError.about("stdin", stdin, "text that can be written as UTF-8, or bytes")
    refused = (bytearray, memoryview, Mapping)  # iterable, but not of bytes or text
    good = (bytes, str, Iterable, AsyncIterable, type(None))
    if isinstance(stdin, refused) or not (isinstance(stdin, good) or callable(getattr(stdin, "read", None))):
        raise UsageError.about("stdin", stdin, "bytes, text, an open file, or an iterable of bytes or text")
    return cast("Stdin", stdin)


def _check_function(function: object) -> str:
    if isinstance(function, str):
        parts = function.split(".")
        if len(parts) <= 2 and all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
            return str(function)
    raise UsageError.about("function", function, "the name of a function (like main) or method (like Tool.run)")


def _check_arguments(field: str, arguments: object) -> dict[str, Any]:
    if not isinstance(arguments, Mapping):
        raise UsageError.about(field, arguments, "a mapping of argument names to values")
    copy: dict[str, Any] = _json_copy((None, field), arguments, 0)
    return copy


# Where a value is: (the place of its parent, its key). Written out only for an error: arguments can be long.
_Place: TypeAlias = tuple[Any, object]


def _wrong(place: _Place, value: object, accepted: str) -> UsageError:
    keys: list[str] = []
    while place[0] is not None:
        keys.append(f"[{shown(place[1])}]")
        place = place[0]
    if len(keys) > 8:
        keys[4:-4] = ["[...]"]
    return UsageError.about(f"{place[1]}{''.join(reversed(keys))}", value, accepted)


def _json_copy(place: _Place, value: Any, depth: int) -> Any:
    """A copy made of exact JSON types, so that what is checked is what is sent."""
    if depth > MAX_DEPTH:
        raise _wrong(place, value, f"values nested at most {MAX_DEPTH} deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and value.bit_length() <= MAX_INT_BITS:
        return int(value)
    if isinstance(value, float) and abs(value) < float("inf"):
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_json_copy((place, index), item, depth + 1) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise _wrong(place, key, "keys that are strings")
        return {str.__str__(key): _json_copy((place, key), item, depth + 1) for key, item in value.items()}
    raise _wrong(place, value, "a JSON value (text, finite number, true, false, null, list, mapping)")
