"""Finds a backend by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from belljar.errors import SetupError
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
    if name == DEFAULT and name not in BUILT_IN:
        raise SetupError(
            "this version has no isolating backend yet",
            layer="backend",
            cure="name one; backend='local' runs without any isolation",
        )
    return cast("Callable[..., Backend]", find(GROUP, "backend", name, BUILT_IN))
