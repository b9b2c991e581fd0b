"""`belljar doctor`: what this host gives, layer by layer, and what cures what is missing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from belljar.cli.parser import Parser
from belljar.cli.screen import write
from belljar.errors import SetupError
from belljar.report import Level

if TYPE_CHECKING:
    from argparse import Namespace

    from belljar.linux.support import Finding, Support

SUMMARY = "Say which level of isolation this host gives."
_HELP = """Say how strong the walls are that this host gives, layer by layer, and what cures what is missing.

Each layer is tried, in child processes that end at once; the host stays as it is. The answer is for the user who asks:
root and others reach different levels.
"""

_EPILOG = """Examples:
  belljar doctor
  belljar doctor --json

Exit codes: 0 the level is at least rootless; 1 it is lower.
"""

_SENTENCES = {
    Level.FULL: "every wall stands, and the kernel holds memory and processes.",
    Level.ROOTLESS: "every wall stands; memory and processes are held by rlimits and a watcher.",
    Level.REDUCED: "Landlock, seccomp and rlimits, without namespaces; a run must accept it by name.",
    Level.NONE: "no walls: only the backend 'local' runs here.",
}
_STYLES = {"ok": "green", "missing": "bold red", "note": "yellow"}


def parser() -> Parser:
    """Its options."""
    parser = Parser("doctor", _HELP, _EPILOG)
    parser.add_argument("--json", dest="as_json", action="store_true", help="As one JSON document.")
    return parser


def main(asked: Namespace) -> int:
    """Look at the host, and print what was found."""
    if not sys.platform.startswith("linux"):
        raise SetupError(f"it needs Linux, and this is {sys.platform}", layer="platform")
    from belljar.linux import support

    found = support.probe()
    level = Level(support.level(found))
    if asked.as_json:
        text = _json(found, level)
    else:
        table = _coloured(found) if os.isatty(1) else _plain(found)
        text = f"{table}\n{_cures(found)}Level `{level}`: {_SENTENCES[level]}\n"
    write("stdout", text.encode(errors="backslashreplace"))
    return 0 if level.at_least(Level.ROOTLESS) else 1


def _json(found: Support, level: Level) -> str:
    import json

    layers = [{"layer": layer.layer, "state": layer.state, **layer._asdict()} for layer in found.findings]
    for layer in layers:
        del layer["works"]
    return json.dumps({"level": level.value, "meaning": _SENTENCES[level], "layers": layers}, indent=2) + "\n"


def _reason(finding: Finding) -> str:
    if finding.errno is None:
        return finding.reason
    from errno import errorcode

    return f"{finding.reason} ({errorcode.get(finding.errno, finding.errno)})"


def _rows(found: Support) -> list[tuple[str, str, str]]:
    return [(one.layer, one.state, one.by if one.works else _reason(one)) for one in found.findings]


def _plain(found: Support) -> str:
    rows = [("layer", "state", "by, or why not"), *_rows(found)]
    return "".join(f"{layer:<17}{state:<9}{text}\n" for layer, state, text in rows)


def _coloured(found: Support) -> str:
    """For a terminal. rich heeds NO_COLOR and TERM itself."""
    import io
    import shutil

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=io.StringIO(), force_terminal=True, width=shutil.get_terminal_size().columns)
    table = Table(box=None, pad_edge=False)
    for header, whole in (("layer", True), ("state", True), ("by, or why not", False)):
        table.add_column(header, no_wrap=whole, overflow="fold")
    for layer, state, text in _rows(found):
        table.add_row(layer, Text(state, _STYLES[state]), Text(text))
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def _cures(found: Support) -> str:
    """As whole lines, to be copied; without those that only repeat that another one comes first."""
    lines = []
    for one in found.findings:
        if one.cure and not one.reason.startswith("not tried"):
            first, *rest = one.cure.splitlines()
            lines += [f"cure of {one.layer}: {first}", *(f"    {line}" for line in rest)]
    return "".join(f"{line}\n" for line in [*lines, ""]) if lines else ""
