"""Finds a language by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from belljar.plugins import find

if TYPE_CHECKING:
    from belljar.languages.base import Language

GROUP = "belljar.languages"
BUILT_IN = {
    "python": "belljar.languages.python:Python",
    "bash": "belljar.languages.commands:bash",
    "sh": "belljar.languages.commands:sh",
    "javascript": "belljar.languages.commands:javascript",
    "c": "belljar.languages.commands:c",
}

_made: dict[str, Language] = {}


def language(name: str) -> Language:
    """The language called `name`, in any case."""
    name = name.lower()
    if name not in _made:
        _made[name] = cast("Language", find(GROUP, "language", name, BUILT_IN)())
    return _made[name]
