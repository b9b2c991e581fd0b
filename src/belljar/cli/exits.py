"""The exit code of the command for each outcome. README and docs show the same table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belljar.outcome import Outcome

if TYPE_CHECKING:
    from belljar.result import Result

_OWN = "the program's own"
_SIGNAL = "128+n"

EXIT_CODES: dict[Outcome, str] = {
    Outcome.OK: _OWN,
    Outcome.FAILED: _OWN,
    Outcome.REJECTED: "1",
    Outcome.CRASHED: _SIGNAL,
    Outcome.TIMED_OUT: "124",
    Outcome.OUT_OF_MEMORY: "137",
    Outcome.OVER_LIMIT: "122",
    Outcome.DENIED: "126",
    Outcome.CANCELLED: "130",
    Outcome.LOST: "125",
}


def exit_code(result: Result) -> int:
    """The exit code for a result."""
    shown = EXIT_CODES[result.outcome]
    if shown == _OWN:
        return result.exit_code or (0 if result.ok else 1)
    if shown == _SIGNAL:
        return 128 + (result.signal or 0)
    return int(shown)
