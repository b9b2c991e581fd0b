"""Finds what packages offer under an entry-point group; belljar's own are found without reading package metadata."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from belljar.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Backends that come with an extra, and the extra that brings what they import.
EXTRAS: dict[str, str] = {}


def find(group: str, field: str, name: str, built_in: Mapping[str, str]) -> Any:
    """The object called `name` in the entry-point group, or a UsageError with the names that there are."""
    if name in built_in:
        return _load(name, built_in[name])
    from importlib.metadata import entry_points  # some 20 ms, which no built-in has to pay

    offered = {point.name: point.value for point in entry_points(group=group)}
    if name not in offered:
        raise UsageError.unknown(field, name, sorted({*offered, *built_in}))
    return _load(name, offered[name])


def _load(name: str, value: str) -> Any:
    module, _, attribute = value.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if name in EXTRAS:
            raise MissingExtra(f"{name!r} needs the package {error.name!r}", extra=EXTRAS[name]) from error
        raise
