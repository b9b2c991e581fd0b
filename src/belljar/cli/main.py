"""The entry of the command. It imports what the command that is asked for needs, and nothing else."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from belljar.cli.early_end import Cancelled, OutputClosed, cancel_on_signals, ignore_signals
from belljar.errors import BelljarError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from belljar.cli.parser import Parser

    class Command(Protocol):
        """The module of a command."""

        SUMMARY: str

        @staticmethod
        def parser() -> Parser: ...

        @staticmethod
        def main(asked: Namespace) -> int: ...


COMMANDS = ("run", "doctor", "prove", "bench", "version")

USAGE, SETUP = 2, 125
OUTPUT_CLOSED = 141  # as the shell shows the end of a program that SIGPIPE has ended

_EXAMPLES = """Examples:
  belljar run hello.py
  belljar run -c "print(6 * 7)"
  belljar doctor
  belljar prove
  belljar bench
  belljar version
"""


def main() -> NoReturn:
    """Run the command line of this process, and end the process."""
    try:
        _leave(_run(sys.argv[1:]))
    except SystemExit:  # after the help
        _leave(0)
    except Cancelled as cancelled:
        _leave(cancelled.exit_code, "cancelled")
    except OutputClosed:
        _leave(OUTPUT_CLOSED)
    except UsageError as error:
        _leave(USAGE, str(error))
    except BelljarError as error:
        _leave(SETUP, str(error))


def command(name: str) -> Command:
    """The module of a command; it imports no more than its options need."""
    from importlib import import_module

    return cast("Command", import_module(f"belljar.cli.{name}"))


def overview() -> Parser:
    """What stands above the commands: it only knows of help."""
    from belljar.cli.parser import Parser

    summaries = "\n".join(f"  {name:<9}{command(name).SUMMARY}" for name in COMMANDS)
    return Parser("", "Run untrusted code under glass.", f"Commands:\n{summaries}\n\n{_EXAMPLES}", words="COMMAND ...")


def _run(words: Sequence[str]) -> int:
    _open_standard_descriptors()
    cancel_on_signals()
    name = words[0] if words else "--help"
    if name not in COMMANDS:
        parser = overview()
        found = parser.read([name])
        raise UsageError.unknown("belljar", found.words[0], COMMANDS)
    asked_for = command(name)
    parser = asked_for.parser()
    return asked_for.main(parser.read(words[1:]))


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
