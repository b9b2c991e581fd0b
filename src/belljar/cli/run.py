"""`belljar run`: a program in a fresh cell, its output live, its end as the exit code."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import typer

from belljar.cli import options  # noqa: TC001  typer reads the annotations
from belljar.cli.asked import Asked, make_directory
from belljar.cli.early_end import Cancelled
from belljar.cli.exits import exit_code
from belljar.cli.keeper import HeadStart, KeeperOptions, PatientBackend
from belljar.cli.notes import notes
from belljar.cli.screen import Screen, write
from belljar.errors import SetupError
from belljar.events import Finished, Output
from belljar.sandbox import Sandbox

if TYPE_CHECKING:
    from belljar.result import Result

_HELP = """Run a program in a fresh cell, and end with its exit code.

FILE is the program; - reads it from stdin. ARGS are its sys.argv[1:]; put those that begin with - behind --.

Output comes as it is printed. On a terminal only text comes through, no control sequences and so no colours of the
program: they could rewrite what you see. In a pipe or file every byte comes through.

The backend 'local' has no isolation: it bounds a program and ends all of it, but the program can do what you can.
"""

_EPILOG = """\b
Examples:
  belljar run hello.py
  belljar run -c "print(6 * 7)"
  echo "print('hi')" | belljar run -
  echo 3 | belljar run square.py
  belljar run --wall 5s --memory 256M job.py -- --fast in.csv
  belljar run --file in.csv --out results job.py
  belljar run --json hello.py

\b
Exit codes: the program's own; 1 it does not compile; 122 over a limit;
124 timed out; 125 the sandbox failed; 126 denied; 130 cancelled; 137 out of
memory; 128+n ended by signal n; 2 wrong usage; 141 nobody reads our output.
"""


def add_to(commands: typer.Typer) -> None:
    """Put the command where it belongs."""
    commands.command(help=_HELP, epilog=_EPILOG, short_help="Run a program in a fresh cell.")(run)


def run(
    context: typer.Context,
    file: options.File = None,
    args: options.Args = None,
    code: options.Code = None,
    backend: options.Backend = None,
    level: options.Level = None,
    language: options.Language = "python",
    memory: options.Memory = None,
    wall: options.Wall = None,
    cpu: options.Cpu = None,
    cpus: options.Cpus = None,
    processes: options.Processes = None,
    disk: options.Disk = None,
    files: options.Files = None,
    open_files: options.OpenFiles = None,
    output: options.Output = None,
    grace: options.Grace = None,
    stdin: options.Stdin = None,
    inputs: options.Inputs = None,
    env: options.Env = None,
    out: options.Out = None,
    preload: options.Preload = None,
    python: options.Python = None,
    as_json: options.AsJson = False,
    live: options.Live = True,
) -> None:
    """Read the options, run, and exit."""
    limits = {"memory": memory, "wall": wall, "cpu": cpu, "cpus": cpus, "processes": processes}
    limits |= {"disk": disk, "files": files, "open_files": open_files, "output": output, "grace": grace}
    asked = Asked.of(
        file=file,
        args=args or [],
        code=code,
        language=language,
        limits={name: value for name, value in limits.items() if value is not None},
        level=level,
        stdin=stdin,
        inputs=inputs or [],
        env=env or [],
    )
    if out is not None:
        make_directory(out)
    keeper = KeeperOptions(backend, python, preload or [])
    head_start: HeadStart | None = context.obj
    found = (head_start and head_start.backend_for(keeper)) or keeper.make()
    screen = Screen(asked.limits.output)
    with Sandbox(asked.policy, limits=asked.limits, backend=PatientBackend(found)) as box:
        result = _follow(box, asked, screen, live=live and not as_json)
    if out is not None:
        _save(result, out)
    if as_json:
        write("stdout", json.dumps(result.to_dict()).encode() + b"\n")
    else:
        if not live:
            _show(result, screen)
        screen.end(notes(result))
    raise typer.Exit(exit_code(result))


def _follow(box: Sandbox, asked: Asked, screen: Screen, *, live: bool) -> Result:
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
    for file in result.files.values():
        try:
            file.save(directory)
        except OSError as error:
            raise SetupError(f"{file.name!r} cannot be saved", layer="--out", errno=error.errno) from error
