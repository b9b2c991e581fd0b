"""The corpus: programs that try to get through, each with a header that is read and never executed.

The first docstring says what is tried. Constants of the module, all literals:

    TITLE       a few words
    MUST_NOT    what must not happen, a sentence
    SEVERITY    critical, high, medium or low
    LAYER       the layer of the report that should hold it, "" where it is the engine's own doing
    LIMITS      what differs from the usual limits of this corpus
    JUDGE       the function of judges.py that decides; without it the program's own word does
    EXPECT      the outcomes that such a judge takes for good
    RUNS        once, twice (one after the other) or together (two at the same time)
    CALL        the function to call; without it the file is run as a program
    MACHINE     the only machine that it is for
    KNOWN       the strongest level at which it gets through as documented (docs/security.md), "" for none
    DURING      what the host tries meanwhile: knock (connect to told["knock"] on the loopback), watch (by inotify),
                signal (have one in the queue)
"""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from belljar.errors import UsageError
from belljar.limits import Limits

Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
Runs: TypeAlias = Literal["once", "twice", "together"]
During: TypeAlias = Literal["", "knock", "watch", "signal"]

CORPUS = os.path.join(os.path.dirname(__file__), "corpus")
CATEGORIES = (
    "filesystem",
    "network",
    "processes",
    "privileges",
    "kernel",
    "resources",
    "forgery",
    "leaks",
    "persistence",
)
USUAL: dict[str, Any] = {
    "wall": "6s",
    "memory": "128M",
    "processes": 32,
    "disk": "16M",
    "files": 512,
    "open_files": 256,
    "output": "256K",
    "grace": "200ms",
}
_NEEDED = ("TITLE", "MUST_NOT", "SEVERITY")
_NAMES = (*_NEEDED, "LAYER", "LIMITS", "JUDGE", "EXPECT", "RUNS", "CALL", "MACHINE", "KNOWN", "DURING")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One program of the corpus."""

    name: str
    """Its category and file: network/tcp."""
    what: str
    title: str
    must_not: str
    severity: Severity
    source: str
    layer: str = ""
    limits: Limits
    judge: str = "said"
    expect: tuple[str, ...] = ()
    runs: Runs = "once"
    call: str | None = None
    machine: str | None = None
    known: str = ""
    during: During = ""

    @property
    def category(self) -> str:
        """The folder that it is in."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Header:
    """What a file declares: its docstring and its constants."""

    what: str
    constants: dict[str, Any] = field(default_factory=dict)


def corpus() -> list[Attack]:
    """Every attack, category by category."""
    return [
        load(os.path.join(CORPUS, category, name))
        for category in CATEGORIES
        for name in sorted(os.listdir(os.path.join(CORPUS, category)))
        if name.endswith(".py")
    ]


def load(path: str) -> Attack:
    """The attack in one file. UsageError says what is wrong with its header."""
    name = f"{os.path.basename(os.path.dirname(path))}/{os.path.basename(path).removesuffix('.py')}"
    with open(path, encoding="utf-8") as file:
        source = file.read()
    header = read_header(source, name)
    given = header.constants
    if given["SEVERITY"] not in get_args(Severity) or given.get("RUNS", "once") not in get_args(Runs):
        raise UsageError(f"{name}: SEVERITY or RUNS is none of those that there are")
    own = {key.lower(): value for key, value in given.items() if key != "LIMITS"}
    return Attack(
        name=name,
        what=header.what,
        source=source,
        limits=Limits.from_dict({**USUAL, **given.get("LIMITS", {})}),
        **{**own, "expect": tuple(given.get("EXPECT", ()))},
    )


def read_header(source: str, name: str) -> Header:
    """Read docstring and constants without running anything."""
    tree = ast.parse(source, name)
    what = ast.get_docstring(tree)
    constants = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=key)], value=value) if key in _NAMES:
                constants[key] = ast.literal_eval(value)
    missing = [key for key in _NEEDED if not isinstance(constants.get(key), str)]
    if not what or missing:
        raise UsageError(f"{name}: the header lacks {', '.join(missing) or 'a docstring'}")
    return Header(" ".join(what.split()), constants)
