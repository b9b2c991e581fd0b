"""The entry of the command. It imports what the command that is asked for needs, and nothing else."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

from belljar.cli.early_end import Cancelled, OutputClosed, cancel_on_signals, ignore_signals
from belljar.errors import BelljarError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

COMMANDS = {
    "prove": "belljar.cli.prove",
    "run": "belljar.cli.run",
    "doctor": "belljar.cli.doctor",
    "version": "belljar.cli.version",
}

USAGE, SETUP = 2, 125
OUTPUT_CLOSED = 141  # as the shell shows the end of a program that SIGPIPE has ended

_EPILOG = """\b
Examples:
  belljar run hello.py
  belljar run -c "print(6 * 7)"
  belljar doctor
  belljar prove
  belljar version
"""


def main() -> NoReturn:
    """Run the command line of this process, and end the process."""
    try:
        _leave(_run(sys.argv[1:]))
    except Cancelled as cancelled:
        _leave(cancelled.exit_code, "cancelled")
    except OutputClosed:
        _leave(OUTPUT_CLOSED)
    except UsageError as error:
        _leave(USAGE, str(error))
    except BelljarError as error:
        _leave(SETUP, str(error))


def app(words: Sequence[str]) -> typer.Typer:
    """The command line with the one command that is asked for, or with all of them when that is help."""
    from importlib import import_module

    import typer

    # Without markup typer does not import rich, which takes as long as a whole run.
    commands = typer.Typer(
        help="Run untrusted code under glass.",
        epilog=_EPILOG,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    commands.callback()(_no_command)  # typer takes a command that is alone for the whole command line
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        import_module(COMMANDS[name]).add_to(commands)
    return commands


def _no_command() -> None:
    pass


def _run(words: list[str]) -> int:
    _open_standard_descriptors()
    cancel_on_signals()
    head_start = None
    if words[:1] == ["run"]:
        from belljar.cli.keeper import head_start_for

        head_start = head_start_for(words[1:])
    try:
        app(words)(words or ["--help"], prog_name="belljar", obj=head_start)
    except SystemExit as end:  # the way in which typer returns
        return end.code if isinstance(end.code, int) else 0
    raise AssertionError("typer always ends by SystemExit")


def _open_standard_descriptors() -> None:
    """Where 0, 1 or 2 are closed, a socket of ours would get that number, and then somebody's output."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(fd)


def _leave(exit_code: int, note: str = "") -> NoReturn:
    """End without taking apart what has been imported: that would take longer than a short run.

    A keeper that is still there sees that we have gone, and cleans up by itself.
    """
    ignore_signals()
    if note:
        from belljar.cli.screen import say

        say(note)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream and stream.flush()
        except OSError:
            exit_code = OUTPUT_CLOSED
    os._exit(exit_code)
