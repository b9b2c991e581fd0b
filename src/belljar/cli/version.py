"""`belljar version`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belljar.cli.parser import Parser
from belljar.cli.screen import write
from belljar.version import __version__

if TYPE_CHECKING:
    from argparse import Namespace

SUMMARY = "Show the version."


def parser() -> Parser:
    """Its options."""
    parser = Parser("version", SUMMARY, "Example: belljar version --json")
    parser.add_argument("--json", dest="as_json", action="store_true", help="As a JSON object, with that of Python.")
    return parser


def main(asked: Namespace) -> int:
    """Print the version, as a line for people or as JSON."""
    if not asked.as_json:
        write("stdout", f"belljar {__version__}\n".encode())
        return 0
    import json
    import platform

    versions = {"belljar": __version__, "python": platform.python_version()}
    write("stdout", json.dumps(versions).encode() + b"\n")
    return 0
