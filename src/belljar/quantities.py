"""Values from outside: sizes, times and counts, choices, mappings that stay as they are, and JSON objects."""

import math
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from belljar.errors import PolicyError, UsageError, shown

Size: TypeAlias = int | float | str
Time: TypeAlias = int | float | str
Count: TypeAlias = int | str
Cpus: TypeAlias = int | float | str

K = TypeVar("K")
V = TypeVar("V", covariant=True)
T = TypeVar("T")

SIZE_FORMS = "a size as bytes or with K, M, G or T (like 512M)"
TIME_FORMS = "a time as seconds or with ms, s, m, h or d (like 1.5s)"
COUNT_FORMS = "a whole number, at least 1 (like 64)"
CPUS_FORMS = "a number of processors, more than 0 (like 2 or 0.5)"

# What the kernel takes, and 31 years: above these no one means it.
MAX_SIZE = 2**63 - 1
MAX_COUNT = 2**31 - 1
MAX_TIME = 1e9
MAX_CPUS = 1024

_SIZES = {"": 1, "B": 1} | {
    letter + end: 1024**power for power, letter in enumerate("KMGT", 1) for end in ("", "B", "IB")
}
# As fractions, so that "200ms" is exactly 0.2.
_TIMES = {"": (1, 1), "ms": (1, 1000), "s": (1, 1), "m": (60, 1), "h": (3600, 1), "d": (86400, 1)}
_DIGITS = frozenset("0123456789")


def _split(text: str) -> tuple[int, int, str] | None:
    """ "1.5G" as (15, 10, "G"); None if it does not begin with a plain decimal number."""
    text = text.strip()
    if not 0 < len(text) <= 40 or not text.isascii():
        return None
    number = ""
    for char in text:
        if char not in _DIGITS and (char != "." or "." in number):
            break
        number += char
    whole, _, decimals = number.partition(".")
    if not whole or ("." in number and not decimals):
        return None
    return int(whole + decimals), 10 ** len(decimals), text[len(number) :].lstrip()


def parse_size(field: str, value: object, *, error: type[UsageError] = PolicyError) -> int:
    """A number of bytes from 512, "512", "64k", "256M", "1.5G" or "1GiB". Units are powers of 1024."""
    size: int | None = None
    if isinstance(value, str):
        parts = _split(value)
        if parts and (unit := _SIZES.get(parts[2].upper())):
            size, rest = divmod(parts[0] * unit, parts[1])
            size = None if rest else size
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 1 <= value <= MAX_SIZE:
        size = int(value) if int(value) == value else None
    if size is None or not 1 <= size <= MAX_SIZE:
        raise error.about(field, value, SIZE_FORMS)
    return size


def parse_time(field: str, value: object, *, error: type[UsageError] = PolicyError) -> float:
    """A number of seconds from 2, 0.5, "1.5s", "200ms", "2m", "1h", "1d" or "30"."""
    time = 0.0
    if isinstance(value, str):
        parts = _split(value)
        if parts and (unit := _TIMES.get(parts[2].lower())):
            time = (parts[0] * unit[0]) / (parts[1] * unit[1])
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= MAX_TIME:
        time = float(value)
    if not 0 < time <= MAX_TIME:
        raise error.about(field, value, TIME_FORMS)
    return time


def parse_cpus(field: str, value: object, *, error: type[UsageError] = PolicyError) -> float:
    """A number of processors, whole or not: 2, 0.5, "1.5"."""
    cpus = 0.0
    if isinstance(value, str):
        parts = _split(value)
        if parts and not parts[2]:
            cpus = parts[0] / parts[1]
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= MAX_CPUS:
        cpus = float(value)
    if not 0 < cpus <= MAX_CPUS:
        raise error.about(field, value, CPUS_FORMS)
    return cpus


def parse_count(field: str, value: object, *, error: type[UsageError] = PolicyError) -> int:
    """A whole number from 64 or "64"."""
    count = 0
    if isinstance(value, str):
        parts = _split(value)
        if parts and parts[1:] == (1, ""):
            count = parts[0]
    elif isinstance(value, int) and not isinstance(value, bool):
        count = int(value)
    if not 1 <= count <= MAX_COUNT:
        raise error.about(field, value, COUNT_FORMS)
    return count


def _short(number: float, places: int) -> str:
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_size(size: int) -> str:
    """The size for people, as "512M" or "1.5G": exact for round sizes, else to one decimal."""
    power = 0
    while power < 4 and abs(size) >= 1024 ** (power + 1):
        power += 1
    return _short(size / 1024**power, 1) + "BKMGT"[power]


# Below this many seconds: the unit, and its length.
_TIME_STEPS: tuple[tuple[float, str, float], ...] = (
    (1, "ms", 0.001),
    (120, "s", 1),
    (7200, "m", 60),
    (172800, "h", 3600),
    (math.inf, "d", 86400),
)


def format_time(seconds: float) -> str:
    """The time for people, as "12ms", "1.5s" or "2h": exact for round times, else to three digits."""
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:.0f}{unit}"
    _, unit, size = next(row for row in _TIME_STEPS if seconds < row[0])
    number = seconds / size
    return _short(number, 3 if number < 1 else 2 if number < 10 else 1 if number < 100 else 0) + unit


def check_choice(field: str, value: object, choices: Iterable[str], *, error: type[UsageError] = UsageError) -> str:
    """The value, if it is one of the choices."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise error.about(field, value, "one of " + ", ".join(names))
    return str(value)


class FrozenMap(Mapping[K, V]):
    """A mapping that cannot be changed, and so can be hashed, copied, pickled and shared.

    `types.MappingProxyType` cannot be pickled or hashed. It equals any mapping with the same items.
    """

    __slots__ = ("_items",)
    _items: dict[K, V]

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make a new one")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items,)

    def __repr__(self) -> str:
        return repr(self._items)


def check_keys(
    path: str,
    data: object,
    known: Iterable[str],
    *,
    needed: Iterable[str] = (),
    error: type[UsageError] = UsageError,
) -> Mapping[str, Any]:
    """The data, if it is a mapping with known keys only and all the needed ones."""
    if not isinstance(data, Mapping):
        raise error.about(path, data, "a mapping")
    names = list(known)
    for key in data:
        if key not in names:
            raise error.unknown(path, key, names)
    for key in needed:
        if key not in data:
            raise error(f"`{path}.{key}` is missing: give it.", field=f"{path}.{key}", accepted="a value")
    return cast("Mapping[str, Any]", data)


@cache
def _hints(form: Any) -> dict[str, Any]:
    return get_type_hints(form)


def conform(form: type[T], data: object, path: str) -> T:
    """The data, if it has exactly the shape of the TypedDict `form`; else a UsageError with the path."""
    _check(form, data, path)
    return cast("T", data)


def _check(form: Any, data: object, path: str) -> None:
    origin = get_origin(form)
    if form is Any:
        return
    if origin in (Union, types.UnionType):
        options = get_args(form)
        if data is None and type(None) in options:
            return
        (form,) = (option for option in options if option is not type(None))
        _check(form, data, path)
    elif origin is Literal:
        check_choice(path, data, get_args(form))
    elif origin is list:
        if not isinstance(data, list):
            raise UsageError.about(path, data, "a list")
        for index, item in enumerate(data):
            _check(get_args(form)[0], item, f"{path}[{index}]")
    elif origin is dict:
        if not isinstance(data, Mapping):
            raise UsageError.about(path, data, "an object")
        for key, item in data.items():
            if not isinstance(key, str):
                raise UsageError.about(path, data, "an object whose keys are strings")
            _check(get_args(form)[1], item, f"{path}[{shown(key)}]")
    elif form in _SCALARS:
        _check_scalar(form, data, path)
    else:
        hints = _hints(form)
        check_keys(path, data, hints, needed=[key for key in hints if key in form.__required_keys__])
        for key, hint in hints.items():
            if key in cast("Mapping[str, object]", data):
                _check(hint, cast("Mapping[str, object]", data)[key], f"{path}.{key}")


_SCALARS = {str: "a string", bool: "true or false", int: "a whole number", float: "a finite number"}


def _check_scalar(kind: type, data: object, path: str) -> None:
    if kind is float:
        # JSON has one kind of number: 0 is a good float.
        right = isinstance(data, (int, float)) and not isinstance(data, bool) and abs(data) <= sys.float_info.max
    elif kind is int:
        right = isinstance(data, int) and not isinstance(data, bool)
    else:
        right = isinstance(data, kind)
    if not right:
        raise UsageError.about(path, data, _SCALARS[kind])
