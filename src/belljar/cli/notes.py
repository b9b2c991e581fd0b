"""What the command itself has to say after a run: one line each, on stderr."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from belljar.outcome import Outcome
from belljar.quantities import format_size, format_time

if TYPE_CHECKING:
    from belljar.limits import Limits
    from belljar.result import Result

_TIMES = {"wall", "cpu", "grace"}
_SIZES = {"memory", "disk", "output"}

# The limits that can be why a run ended so; those that were reached beside are told apart.
_REASONS = {
    Outcome.TIMED_OUT: {"wall", "cpu"},
    Outcome.OUT_OF_MEMORY: {"memory"},
    Outcome.OVER_LIMIT: {"processes", "output", "disk", "files"},
}
# The program has said enough itself, or nothing was wrong.
_SILENT = {Outcome.OK, Outcome.FAILED}


def notes(result: Result) -> list[str]:
    """How the run ended if that was bad, and what was cut from it."""
    lines = []
    reasons = [name for name in result.limits_hit if name in _REASONS.get(result.outcome, ())]
    if result.outcome not in _SILENT:
        how = result.outcome.meaning.removeprefix("the code ").removeprefix("was ")
        details = [limit(result.limits, name) for name in reasons]
        if result.outcome is Outcome.CRASHED and result.signal is not None:
            details = [signal_name(result.signal)]
        lines.append(f"{result.outcome}: {how}" + (f" ({', '.join(details)})" if details else ""))
    for stream, dropped in (("stdout", result.stdout_dropped), ("stderr", result.stderr_dropped)):
        if dropped:
            lines.append(f"{dropped} bytes of {stream} were dropped (limit {limit(result.limits, 'output')})")
    others = [name for name in result.limits_hit if name not in reasons and name != "output"]
    lines += [f"the limit {limit(result.limits, name)} was reached" for name in others]
    return lines


def limit(limits: Limits, name: str) -> str:
    """The limit with its value for people: "wall 2s", "memory 256M"."""
    value = getattr(limits, name)
    if name in _TIMES and value is not None:
        return f"{name} {format_time(value)}"
    return f"{name} {format_size(value) if name in _SIZES else value}"


def signal_name(number: int) -> str:
    """The name of a signal, or its number where it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
