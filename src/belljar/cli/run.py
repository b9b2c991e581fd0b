"""`belljar run`: a program in a fresh cell, its output live, its end as the exit code."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

from belljar.cli.early_end import Cancelled
from belljar.cli.keeper import KeeperOptions, PatientBackend
from belljar.cli.options import add_options, limits_in
from belljar.cli.parser import Parser

if TYPE_CHECKING:
    from argparse import Namespace

    from belljar.cli.asked import Asked
    from belljar.cli.screen import Screen
    from belljar.result import Result
    from belljar.sandbox import Sandbox

SUMMARY = "Run a program in a fresh cell."
_HELP = """Run a program in a fresh cell, and end with its exit code.

FILE is the program; - reads it from stdin. ARGS are its sys.argv[1:]; put those that begin with - behind --.

Output comes as it is printed. On a terminal only text comes through, no control sequences and so no colours of the
program: they could rewrite what you see. In a pipe or file every byte comes through.

The backend 'local' has no isolation: it bounds a program and ends all of it, but the program can do what you can.
"""

_EPILOG = """Examples:
  belljar run hello.py
  belljar run -c "print(6 * 7)"
  echo "print('hi')" | belljar run -
  echo 3 | belljar run square.py
  belljar run --wall 5s --memory 256M job.py -- --fast in.csv
  belljar run --file in.csv --out results job.py
  belljar run --json hello.py

Exit codes: the program's own; 1 it does not compile; 122 over a limit;
124 timed out; 125 the sandbox failed; 126 denied; 130 cancelled; 137 out of
memory; 128+n ended by signal n; 2 wrong usage; 141 nobody reads our output.
"""


def parser() -> Parser:
    """Its options."""
    parser = Parser("run", _HELP, _EPILOG, words="[FILE] [ARGS]...")
    add_options(parser)
    return parser


def main(asked: Namespace) -> int:
    """Start the keeper, which takes the longest, then import what the run needs; returns the exit code."""
    backend = KeeperOptions(asked.backend, asked.python, asked.preload).make()

    from belljar.cli.asked import Asked, make_directory
    from belljar.cli.exits import exit_code
    from belljar.cli.notes import notes
    from belljar.cli.screen import Screen, write
    from belljar.sandbox import Sandbox

    file, *args = asked.words or [None]
    wanted = Asked.of(
        file=file,
        args=args,
        code=asked.code,
        language=asked.language,
        limits=limits_in(vars(asked)),
        level=asked.level,
        stdin=asked.stdin,
        inputs=asked.inputs,
        env=asked.env,
    )
    if asked.out is not None:
        make_directory(asked.out)
    screen = Screen(wanted.limits.output)
    live = asked.live is not False
    with Sandbox(wanted.policy, limits=wanted.limits, backend=PatientBackend(backend)) as box:
        result = _follow(box, wanted, screen, live=live and not asked.as_json)
    if asked.out is not None:
        _save(result, asked.out)
    if asked.as_json:
        write("stdout", json.dumps(result.to_dict()).encode() + b"\n")
    else:
        if not live:
            _show(result, screen)
        screen.end(notes(result))
    return exit_code(result)


def _follow(box: Sandbox, asked: Asked, screen: Screen, *, live: bool) -> Result:
    from belljar.events import Finished, Output

    # Closed explicitly: if we are ended while we write, the run has to end before we do.
    with closing(box.stream(asked.request)) as events:
        try:
            for event in events:
                if isinstance(event, Finished):
                    return event.result
                if live and isinstance(event, Output):
                    screen.show(event.stream, event.data)
        except Cancelled:
            screen.end_line()
            raise
    raise AssertionError("a stream of events always ends with Finished")


def _show(result: Result, screen: Screen) -> None:
    """The output of a run that is over. What was cut from its middle is told in its place."""
    screen.show_whole("stdout", result.stdout.encode() if result.stdout_dropped else result.stdout_bytes)
    screen.show_whole("stderr", result.stderr.encode() if result.stderr_dropped else result.stderr_bytes)


def _save(result: Result, directory: str) -> None:
    from belljar.errors import SetupError

    for file in result.files.values():
        try:
            file.save(directory)
        except OSError as error:
            raise SetupError(f"{file.name!r} cannot be saved", layer="--out", errno=error.errno) from error
