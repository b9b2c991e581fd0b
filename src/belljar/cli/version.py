"""`belljar version`."""

from __future__ import annotations

from typing import Annotated

import typer

from belljar.cli.screen import write
from belljar.version import __version__


def add_to(commands: typer.Typer) -> None:
    """Put the command where it belongs."""
    commands.command(help="Show the version.", epilog="Example: belljar version --json")(version)


def version(
    as_json: Annotated[bool, typer.Option("--json", help="As a JSON object, with that of Python.")] = False,
) -> None:
    """Print the version, as a line for people or as JSON."""
    if not as_json:
        write("stdout", f"belljar {__version__}\n".encode())
        return
    import json
    import platform

    versions = {"belljar": __version__, "python": platform.python_version()}
    write("stdout", json.dumps(versions).encode() + b"\n")
