"""How a run ended: the closed list, and the table that decides it from facts of the host."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Outcome(StrEnum):
    """How a run ended. The list is closed."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OVER_LIMIT = "over_limit"
    DENIED = "denied"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def is_infra(self) -> bool:
        """Whether the sandbox is to blame, not the code: such a run can safely be tried again."""
        return self is Outcome.LOST

    @property
    def meaning(self) -> str:
        """One line for people."""
        return _MEANINGS[self]


_MEANINGS = {
    Outcome.OK: "the code ran to its end",
    Outcome.FAILED: "the code ended with an error or an exit status other than 0",
    Outcome.REJECTED: "the code did not parse or compile: nothing ran",
    Outcome.CRASHED: "the code was ended by a signal that it caused",
    Outcome.TIMED_OUT: "the code was stopped at its wall or CPU limit",
    Outcome.OUT_OF_MEMORY: "the code was stopped at its memory limit",
    Outcome.OVER_LIMIT: "the code was stopped at a limit other than time and memory",
    Outcome.DENIED: "the code was stopped because it tried what the policy forbids",
    Outcome.CANCELLED: "the caller cancelled the run",
    Outcome.LOST: "the sandbox failed, not the code: the run can be tried again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the host knows about the end of a run. Nothing here is text that the code wrote.

    `rejected` is the guest's word from before any user code lived; `answered` is False if a call ended
    without its answer; `stopped_for` is the name of the limit that we ended the run for.
    """

    exit_code: int | None = None
    signal: int | None = None
    rejected: bool = False
    answered: bool = True
    deadline: Literal["wall", "cpu"] | None = None
    out_of_memory: bool = False
    stopped_for: str | None = None
    denied: bool = False
    cancelled: bool = False
    lost: bool = False


# Read from top to bottom; the first row that fits decides.
TABLE: tuple[tuple[Outcome, Callable[[Facts], bool]], ...] = (
    (Outcome.CANCELLED, lambda facts: facts.cancelled),
    (Outcome.LOST, lambda facts: facts.lost),
    (Outcome.OUT_OF_MEMORY, lambda facts: facts.out_of_memory),
    (Outcome.TIMED_OUT, lambda facts: facts.deadline is not None),
    (Outcome.OVER_LIMIT, lambda facts: facts.stopped_for is not None),
    (Outcome.DENIED, lambda facts: facts.denied),
    (Outcome.REJECTED, lambda facts: facts.rejected),
    (Outcome.CRASHED, lambda facts: facts.signal is not None),
    # It ended and we do not know how.
    (Outcome.LOST, lambda facts: facts.exit_code is None),
    (Outcome.FAILED, lambda facts: facts.exit_code != 0 or not facts.answered),
    (Outcome.OK, lambda _: True),
)


def classify(facts: Facts) -> Outcome:
    """The outcome of a run."""
    return next(outcome for outcome, fits in TABLE if fits(facts))
