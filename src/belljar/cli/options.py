"""The options of `belljar run`."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from typing import TYPE_CHECKING

from belljar.limits import Limits
from belljar.quantities import format_size, format_time

if TYPE_CHECKING:
    from belljar.cli.parser import Parser

_LIMITS = {
    "memory": ("SIZE", "Memory of all its processes"),
    "wall": ("TIME", "Time to run"),
    "cpu": ("TIME", "CPU time of all its processes"),
    "cpus": ("N", "Processors that it sees and uses"),
    "processes": ("N", "Processes and threads"),
    "disk": ("SIZE", "What it may write"),
    "files": ("N", "Files that it may make"),
    "open_files": ("N", "Open files of each process"),
    "output": ("SIZE", "Output on each of stdout and stderr; the rest is dropped"),
    "grace": ("TIME", "Between the interrupt at the wall limit and the kill"),
}


def add_options(parser: Parser) -> None:
    """Give the parser all of them, in the order of the help text."""
    add = parser.add_argument
    add("-c", metavar="CODE", dest="code", help="The program itself, instead of FILE.")
    add("--backend", metavar="NAME", help="Who provides the cell (default namespace).")
    add(
        "--level",
        metavar="LEVEL",
        help="Refuse less isolation: none, reduced, rootless, full "
        "(default: what the backend named has, else rootless).",
    )
    add("--language", metavar="NAME", default="python", help="The language of the program (default python).")
    usual = Limits()
    for name, (unit, what) in _LIMITS.items():
        default = _shown(unit, getattr(usual, name))
        add(f"--{name.replace('_', '-')}", metavar=unit, dest=name, help=f"{what} (default {default}).")
    add(
        "--stdin",
        metavar="FILE|-",
        help="Its stdin. Without it, that of the command unless it is a terminal or the program.",
    )
    add(
        "--file",
        metavar="[NAME=]PATH",
        dest="inputs",
        action="append",
        default=[],
        help="Put a file into its workspace, by its own name or another. Repeatable.",
    )
    add(
        "--env",
        metavar="K[=V]",
        action="append",
        default=[],
        help="Set a variable; K alone takes your value. Repeatable.",
    )
    add("--out", metavar="DIR", help="Save the files that it leaves there.")
    add(
        "--preload",
        metavar="MODULE",
        action="append",
        default=[],
        help="Import it before the program starts. Repeatable.",
    )
    add("--python", metavar="PY", help="Run by this interpreter (default: that of belljar).")
    add(
        "--json",
        dest="as_json",
        action="store_true",
        help="Print the whole result as one JSON document, and nothing else.",
    )
    add(
        "--stream",
        dest="live",
        action=BooleanOptionalAction,
        help="Output as it comes, which is the default, or at the end; then, of too much, the first and the last half.",
    )


def limits_in(found: dict[str, str | None]) -> dict[str, str]:
    """The limits that were given."""
    return {name: value for name in _LIMITS if (value := found[name]) is not None}


def _shown(unit: str, value: float | None) -> str:
    if value is None:
        return "none"
    return format_size(int(value)) if unit == "SIZE" else format_time(value) if unit == "TIME" else str(value)
