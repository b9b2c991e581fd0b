"""Finds a backend by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from belljar.plugins import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.backends.base import Backend

GROUP = "belljar.backends"
BUILT_IN = {
    "local": "belljar.backends.local:LocalBackend",
    "namespace": "belljar.backends.namespace:NamespaceBackend",
}
DEFAULT = "namespace"


def backend_class(name: str) -> Callable[..., Backend]:
    """The class of the backend called `name`."""
    return cast("Callable[..., Backend]", find(GROUP, "backend", name, BUILT_IN))
