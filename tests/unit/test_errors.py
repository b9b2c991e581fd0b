"""The exceptions: their sentences, and that they can be sent elsewhere."""

import copy
import errno
import pickle
from typing import Any

import pytest

from belljar.errors import (
    BelljarError,
    MissingExtra,
    PolicyError,
    ProtocolError,
    SetupError,
    Unsupported,
    UsageError,
)

ERRORS = [
    BelljarError("plain"),
    UsageError("The session is closed.", field="session"),
    UsageError.about("stdin", object(), "bytes"),
    UsageError.about("kwargs", lambda: 0, "a JSON value"),
    PolicyError.about("limits.memory", "12Q", "a size"),
    PolicyError.unknown("limits", "memry", ["memory", "wall"]),
    SetupError("cannot bind /usr", layer="mounts", errno=errno.ENOENT, cure="sudo belljar setup"),
    SetupError("no user namespaces", layer="userns"),
    MissingExtra("the MCP server needs the package mcp", extra="mcp"),
    Unsupported(backend="local", feature="sessions", instead="use namespace"),
    ProtocolError("frame too long"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("clone", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"])
def test_error_survives_a_trip(error: Any, clone: Any) -> None:
    error.add_note("a note")
    again = clone(error)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            PolicyError.about("limits.memory", "12Q", "a size as bytes"),
            "`limits.memory` is '12Q': give a size as bytes.",
        ),
        (
            UsageError.unknown("limits", "memry", ["memory", "wall"]),
            "`limits` has no 'memry': it takes memory, wall. Did you mean 'memory'?",
        ),
        (UsageError.unknown("report", "x", []), "`report` has no 'x': it takes nothing."),
        (
            SetupError("cannot bind /usr", layer="mounts", errno=errno.ENOENT, cure="mkdir /usr"),
            "mounts: cannot bind /usr (ENOENT: No such file or directory). Cure: mkdir /usr",
        ),
        (SetupError("no user namespaces", layer="userns"), "userns: no user namespaces."),
        (
            MissingExtra("the MCP server needs mcp", extra="mcp"),
            "packages: the MCP server needs mcp. Cure: pip install 'belljar[mcp]'",
        ),
        (
            Unsupported(backend="local", feature="sessions"),
            "The backend 'local' does not support sessions.",
        ),
    ],
)
def test_message(error: Any, message: Any) -> None:
    assert str(error) == message


def test_attributes() -> None:
    error = PolicyError.about("limits.memory", "12Q", "a size")
    assert (error.field, error.value, error.accepted) == ("limits.memory", "12Q", "a size")
    setup = SetupError("no", layer="userns", errno=1, cure="sysctl")
    assert (setup.layer, setup.errno, setup.cure) == ("userns", 1, "sysctl")
    missing = MissingExtra("no", extra="mcp")
    assert (missing.extra, missing.cure) == ("mcp", "pip install 'belljar[mcp]'")
    unsupported = Unsupported(backend="local", feature="sessions")
    assert (unsupported.backend, unsupported.feature) == ("local", "sessions")


@pytest.mark.parametrize(
    ("error", "bases"),
    [
        (UsageError, {BelljarError, ValueError}),
        (PolicyError, {UsageError, ValueError}),
        (SetupError, {BelljarError}),
        (MissingExtra, {SetupError}),
        (Unsupported, {BelljarError}),
        (ProtocolError, {BelljarError}),
    ],
)
def test_tree(error: Any, bases: Any) -> None:
    assert bases <= set(error.__mro__)
    assert not issubclass(SetupError, ValueError)


@pytest.mark.parametrize(
    "value", [10**5000, "x" * 10**6, b"x" * 10**6, list(range(10**4))], ids=lambda value: type(value).__name__
)
def test_shown_value_is_short(value: Any) -> None:
    assert len(str(UsageError.about("field", value, "less"))) < 100
