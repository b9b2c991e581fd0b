"""What a command line asks for, checked before anything starts: a request, its limits, its policy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from belljar.errors import UsageError
from belljar.limits import Limits
from belljar.policy import Policy
from belljar.request import RunRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_STDIN = "-"


@dataclass(frozen=True, slots=True)
class Asked:
    """One run."""

    request: RunRequest
    limits: Limits
    policy: Policy | None

    @classmethod
    def of(
        cls,
        *,
        file: str | None,
        args: Sequence[str],
        code: str | None,
        language: str,
        limits: Mapping[str, str],
        level: str | None,
        stdin: str | None,
        inputs: Sequence[str],
        env: Sequence[str],
    ) -> Asked:
        """What the options mean together."""
        if code is not None and file is not None:
            args, file = [file, *args], None  # as with python: what follows CODE is for the program
        bounds = Limits.from_dict(limits)
        request = RunRequest(
            source=_source(file) if code is None else code,
            filename=os.path.basename(file) if file not in (None, _STDIN) else None,
            language=language,
            args=args,
            files=_inputs(inputs),
            env=dict(_variable(item) for item in env),
            stdin=_stdin(stdin, taken=code is None and file == _STDIN),
        )
        # Without a policy, naming a backend is accepting the level that it has.
        policy = None if level is None else Policy.from_dict({"level": level})
        return cls(request, bounds, policy)


def make_directory(path: str) -> None:
    """Make the directory for what a run leaves, now: after the run it would be too late for a mistake."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UsageError(f"'{path}' cannot be made: {error.strerror}.", field="--out") from error


def _source(file: str | None) -> bytes:
    if file is None:
        raise UsageError("there is no program: give FILE, - for stdin, or -c CODE.", field="FILE")
    try:
        with _opened(file) as source:
            return source.read()
    except OSError as error:
        raise _unreadable("the program", file, error) from error


def _stdin(given: str | None, *, taken: bool) -> IO[bytes] | None:
    if given == _STDIN and taken:
        raise UsageError("stdin is the program already: it cannot be its input too.", field="--stdin")
    if given is None and (taken or os.isatty(0)):
        return None
    try:
        stdin = _opened(_STDIN if given is None else given)
        os.read(stdin.fileno(), 0)  # a directory, or open for writing only
    except OSError as error:
        raise _unreadable("stdin", given or _STDIN, error) from error
    return stdin


def _opened(file: str) -> IO[bytes]:
    # Unbuffered: of stdin, nothing is taken before it is wanted.
    if file == _STDIN:
        return open(0, "rb", buffering=0, closefd=False)
    return open(file, "rb", buffering=0)


def _unreadable(what: str, file: str, error: OSError) -> UsageError:
    return UsageError(f"{what} cannot be read from '{file}': {error.strerror}.", field=what)


def _inputs(items: Sequence[str]) -> dict[str, Path]:
    from pathlib import Path

    files: dict[str, Path] = {}
    for item in items:
        name, equals, path = item.partition("=")
        if not equals:
            name, path = os.path.basename(item), item
        if name in files:
            raise UsageError.about("--file", item, f"each name once: '{name}' is there already")
        files[name] = Path(path)
    return files


def _variable(item: str) -> tuple[str, str]:
    name, equals, value = item.partition("=")
    if not equals:
        if name not in os.environ:
            raise UsageError.about("--env", item, "K=V, or the name of a variable that you have")
        value = os.environ[name]
    return name, value
