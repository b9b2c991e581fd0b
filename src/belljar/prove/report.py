"""What a proof has found, for people and for programs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypedDict

from belljar.prove.judges import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from belljar.prove.attacks import Attack
    from belljar.prove.runner import Proof, Tried

COLUMNS = ("attack", "severity", "verdict", "by or why")
_LONGEST = 160


class TriedDict(TypedDict):
    """One attack and what came of it. `reason` is why it did not hold, `by` what held it, as far as that is known."""

    name: str
    category: str
    title: str
    must_not: str
    severity: str
    verdict: str
    by: str
    reason: str
    outcome: str
    seconds: float


class ProofDict(TypedDict):
    """The whole of it. `damage` is what was not as before on the host when all was over, whoever did it."""

    backend: str
    level: str
    holds: bool
    held: int
    broke: int
    known: int
    unclear: int
    skipped: int
    seconds: float
    damage: list[str]
    attacks: list[TriedDict]


def to_dict(proof: Proof) -> ProofDict:
    """The JSON form."""
    return {
        "backend": proof.backend,
        "level": proof.level,
        "holds": proof.holds,
        "held": proof.count(State.HELD),
        "broke": proof.count(State.BROKE),
        "known": proof.count(State.KNOWN),
        "unclear": proof.count(State.UNCLEAR),
        "skipped": proof.count(State.SKIPPED),
        "seconds": round(proof.seconds, 3),
        "damage": list(proof.damage),
        "attacks": [_tried(one) for one in proof.tried],
    }


def rows(proof: Proof) -> Iterator[tuple[str, ...]]:
    """The table, one row for an attack, in the words of `COLUMNS`."""
    for one in proof.tried:
        verdict = one.verdict
        yield one.attack.name, one.attack.severity, verdict.state.value, plain(verdict.reason or verdict.by)


def lines(proof: Proof) -> Iterator[str]:
    """The table as text."""
    table = [COLUMNS, *rows(proof)]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    for row in table:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()


def summary(proof: Proof) -> str:
    """One line: the figures."""
    figures = ", ".join(f"{proof.count(state)} {state}" for state in State if proof.count(state) or state is State.HELD)
    return f"{proof.backend} (level {proof.level}): {figures} of {len(proof.tried)} attacks in {proof.seconds:.1f} s"


def listing(attacks: Iterable[Attack]) -> Iterator[str]:
    """The corpus as text, category by category, with what must not happen."""
    known = list(attacks)
    width = max((len(attack.name) for attack in known), default=0)
    for category, members in groupby(known, key=lambda attack: attack.category):
        there = list(members)
        yield f"{category} ({len(there)})"
        for attack in there:
            yield f"  {attack.name.ljust(width)}  {attack.severity:8}  {attack.title}"


def markdown(attacks: Iterable[Attack]) -> str:
    """The corpus as the table of docs/prove.md."""
    body = [f"| `{attack.name}` | {attack.severity} | {attack.title} | {attack.must_not} |" for attack in attacks]
    return (
        "\n".join(["| attack | severity | what is tried | what must not happen |", "|---|---|---|---|", *body]) + "\n"
    )


def plain(text: str) -> str:
    """Text that partly comes from an attack, short and without what a terminal would act on."""
    shown = "".join(char if char.isprintable() else "?" for char in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."


def _tried(one: Tried) -> TriedDict:
    return {
        "name": one.attack.name,
        "category": one.attack.category,
        "title": one.attack.title,
        "must_not": one.attack.must_not,
        "severity": one.attack.severity,
        "verdict": one.verdict.state.value,
        "by": one.verdict.by,
        "reason": one.verdict.reason,
        "outcome": one.outcome,
        "seconds": round(one.seconds, 3),
    }
