"""The options of `belljar run`, as typer reads them."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from belljar.limits import Limits
from belljar.quantities import format_size, format_time

_USUAL = Limits()


def _limit(flag: str, unit: str, what: str) -> Any:
    value = getattr(_USUAL, flag[2:].replace("-", "_"))
    usual = _shown(unit, value)
    return typer.Option(flag, metavar=unit, help=f"{what} (default {usual}).")


def _shown(unit: str, value: float | None) -> str:
    if value is None:
        return "none"
    return format_size(int(value)) if unit == "SIZE" else format_time(value) if unit == "TIME" else str(value)


Limit: TypeAlias = str | None
Words: TypeAlias = list[str] | None
# The help text tells of these two.
File = Annotated[str | None, typer.Argument(metavar="FILE", hidden=True)]
Args = Annotated[Words, typer.Argument(metavar="ARGS", hidden=True)]
Code = Annotated[str | None, typer.Option("-c", metavar="CODE", help="The program itself, instead of FILE.")]
Backend = Annotated[str | None, typer.Option(metavar="NAME", help="Who provides the cell (default namespace).")]
Level = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="Refuse less isolation: none, reduced, rootless, full "
        "(default: what the backend named has, else rootless).",
    ),
]
Language = Annotated[str, typer.Option(metavar="NAME", help="The language of the program.", show_default=True)]
Memory = Annotated[Limit, _limit("--memory", "SIZE", "Memory of all its processes")]
Wall = Annotated[Limit, _limit("--wall", "TIME", "Time to run")]
Cpu = Annotated[Limit, _limit("--cpu", "TIME", "CPU time of all its processes")]
Cpus = Annotated[Limit, _limit("--cpus", "N", "Processors that it sees and uses")]
Processes = Annotated[Limit, _limit("--processes", "N", "Processes and threads")]
Disk = Annotated[Limit, _limit("--disk", "SIZE", "What it may write")]
Files = Annotated[Limit, _limit("--files", "N", "Files that it may make")]
OpenFiles = Annotated[Limit, _limit("--open-files", "N", "Open files of each process")]
Output = Annotated[Limit, _limit("--output", "SIZE", "Output on each of stdout and stderr; the rest is dropped")]
Grace = Annotated[Limit, _limit("--grace", "TIME", "Between the interrupt at the wall limit and the kill")]
Stdin = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|-", help="Its stdin. Without it, that of the command unless it is a terminal or the program."
    ),
]
Inputs = Annotated[
    Words,
    typer.Option(
        "--file", metavar="[NAME=]PATH", help="Put a file into its workspace, by its own name or another. Repeatable."
    ),
]
Env = Annotated[Words, typer.Option(metavar="K[=V]", help="Set a variable; K alone takes your value. Repeatable.")]
Out = Annotated[str | None, typer.Option(metavar="DIR", help="Save the files that it leaves there.")]
Preload = Annotated[Words, typer.Option(metavar="MODULE", help="Import it before the program starts. Repeatable.")]
Python = Annotated[str | None, typer.Option(metavar="PY", help="Run by this interpreter (default: that of belljar).")]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the whole result as one JSON document, and nothing else."),
]
Live = Annotated[
    bool,
    typer.Option(
        "--stream/--no-stream",
        help="Output as it comes, or at the end; then, of too much, the first and the last half.",
    ),
]
