"""Who decides whether an attack got through: by what the host knows, and by the attack's word where it has to be so.

A judge is a function of `Evidence`. Where it is not sure it says `unclear`, never `held`.
"""

from __future__ import annotations

import platform
import pwd
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from belljar.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.prove.attacks import Attack
    from belljar.result import Result

_TIME_TO_END = 2.0  # seconds that the end of a run may take beyond its limit, on a machine that has other things to do


class State(StrEnum):
    """What came of an attack."""

    HELD = "held"
    BROKE = "broke"
    KNOWN = "known"
    UNCLEAR = "unclear"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an attack, and why we think so; `by` is the layer that held it, as far as that is known."""

    state: State
    reason: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of an attack when it is over."""

    attack: Attack
    results: list[Result]
    token: str = ""
    traces: list[str] = field(default_factory=list)
    """What was found on the host: bait touched, secrets in the result, processes and files left."""
    met: bool = False
    """What the host tried meanwhile came to something: it could connect to the attack, or lacked what it had taken."""

    @property
    def last(self) -> Result:
        """The run that counts, where there are two."""
        return self.results[-1]

    def words(self, word: str) -> list[str]:
        """What follows `word` on the lines that begin with it, of all runs."""
        lines = [line for result in self.results for line in result.stdout.splitlines()]
        return [line.partition(" ")[2] for line in lines if line.partition(" ")[0] == word]


def judge(evidence: Evidence) -> Verdict:
    """Decide: what the host has seen comes first, then what the attack boasts of, then its judge."""
    if evidence.traces:
        return Verdict(State.BROKE, "; ".join(evidence.traces))
    if boasts := evidence.words("BROKEN"):
        return Verdict(State.BROKE, "; ".join(dict.fromkeys(boasts)))
    if any(result.outcome is Outcome.LOST for result in evidence.results):
        return Verdict(State.UNCLEAR, "a run was lost")
    return JUDGES[evidence.attack.judge](evidence)


def said(evidence: Evidence) -> Verdict:
    """Every run must have ended well and with HELD."""
    for result in evidence.results:
        last = [line for line in result.stdout.splitlines() if line.split(" ")[0] == "HELD"]
        if not last or result.outcome is not Outcome.OK:
            return Verdict(State.UNCLEAR, f"{result.outcome} without a last word: {result.stderr[-200:]}".strip())
    return Verdict(State.HELD, by=evidence.words("HELD")[-1])


def expected(evidence: Evidence) -> Verdict:
    """The host has ended it as it should; or it has ended by itself, and said HELD."""
    outcome = evidence.last.outcome
    if outcome.value in evidence.attack.expect:
        return _in_time(evidence) or Verdict(State.HELD, by=", ".join(evidence.last.limits_hit) or outcome.value)
    if outcome is Outcome.OK and evidence.words("HELD"):
        return said(evidence)
    return Verdict(State.UNCLEAR, f"{outcome} is none of {', '.join(evidence.attack.expect)}")


def outcome_is_ours(evidence: Evidence) -> Verdict:
    """It forges its end: every other outcome than the expected one is the forgery."""
    result = evidence.last
    if result.outcome.value not in evidence.attack.expect:
        return Verdict(State.BROKE, f"the outcome is {result.outcome}, not {' or '.join(evidence.attack.expect)}")
    if "TRIED" not in result.stdout:
        return Verdict(State.UNCLEAR, "it has not come so far")
    if late := _in_time(evidence):
        return late
    return Verdict(State.HELD, by=f"{result.outcome}, exit code {result.exit_code}")


def no_value(evidence: Evidence) -> Verdict:
    """There must be no value, whatever it has written, and the outcome is as expected."""
    verdict = outcome_is_ours(evidence)
    if evidence.last.has_value or evidence.last.value is not None:
        return Verdict(State.BROKE, f"the value is {evidence.last.value!r:.80}")
    return verdict


def plain_value(evidence: Evidence) -> Verdict:
    """The value is plain JSON of a bounded size, or there is none."""
    verdict = outcome_is_ours(evidence)
    if not _is_plain(evidence.last.value):
        return Verdict(State.BROKE, f"the value is a {type(evidence.last.value).__name__}")
    return verdict


def bounded_output(evidence: Evidence) -> Verdict:
    """Not more than the limit was kept, and the rest was counted."""
    result, most = evidence.last, evidence.attack.limits.output
    kept = max(len(result.stdout_bytes), len(result.stderr_bytes))
    if kept > most:
        return Verdict(State.BROKE, f"{kept} bytes were kept, and {most} are allowed")
    if not result.stdout_dropped + result.stderr_dropped:
        return Verdict(State.UNCLEAR, "nothing was dropped")
    return _in_time(evidence) or Verdict(State.HELD, by=f"{kept} bytes kept")


def files_are_harmless(evidence: Evidence) -> Verdict:
    """Output files are few, small, plainly named, and give no rights."""
    result, limits = evidence.last, evidence.attack.limits
    total = sum(len(file.data) for file in result.files.values())
    if total > limits.disk or len(result.files) > limits.files:
        return Verdict(State.BROKE, f"{len(result.files)} files with {total} bytes came out")
    for name, file in result.files.items():
        if name.startswith("/") or ".." in name.split("/") or file.mode not in (0o644, 0o755):
            return Verdict(State.BROKE, f"{name!r} came out with mode {file.mode:o}")
        if file.data.startswith(b"root:"):
            return Verdict(State.BROKE, f"{name!r} is a file of the host")
    if not evidence.words("PLANTED"):
        return Verdict(State.UNCLEAR, f"{result.outcome}: it has planted nothing: {result.stderr[-200:]}")
    return _in_time(evidence) or Verdict(State.HELD, by=f"{len(result.files)} files came out")


def bounded_disk(evidence: Evidence) -> Verdict:
    """What it has written in all places, as it counts itself, is not more than the limit."""
    limits = evidence.attack.limits
    counted = {"bytes": limits.disk + (1 << 20), "files": limits.files + 32}
    found = [words.split() for words in evidence.words("WRITTEN")]
    if not found:
        return Verdict(State.UNCLEAR, f"{evidence.last.outcome}: it does not say what it has written")
    for unit, amount in found:
        if int(amount) > counted[unit]:
            return Verdict(State.BROKE, f"{amount} {unit} were written, and about {counted[unit]} are allowed")
    return Verdict(State.HELD, by="; ".join(f"no more than {amount} {unit}" for unit, amount in found))


def nothing_left(evidence: Evidence) -> Verdict:
    """Processes were left behind (traces would show them), and the result does not wait for them."""
    if not evidence.words("STARTED"):
        return Verdict(State.UNCLEAR, f"{evidence.last.outcome}: it has started nothing: {evidence.last.stderr[-200:]}")
    return _in_time(evidence) or Verdict(State.HELD, by="all is dead before the result")


def values_differ(evidence: Evidence) -> Verdict:
    """Two runs draw different values: of each name, all are different."""
    drawn: dict[str, list[str]] = {}
    for words in evidence.words("VALUE"):
        name, _, value = words.partition("=")
        drawn.setdefault(name, []).append(value)
    if not drawn or any(len(values) != len(evidence.results) for values in drawn.values()):
        return Verdict(State.UNCLEAR, "the runs did not draw the same number of values")
    same = [name for name, values in drawn.items() if len(set(values)) != len(values)]
    return Verdict(State.BROKE, f"the same in both: {', '.join(same)}") if same else Verdict(State.HELD, by="fresh")


def not_the_hosts(evidence: Evidence) -> Verdict:
    """No VALUE name=... is the host's own."""
    facts = host_facts()
    for words in evidence.words("VALUE"):
        name, _, value = words.partition("=")
        if value and value in facts.get(name, ()):
            return Verdict(State.BROKE, f"{name} is the host's: {value:.60}")
    return said(evidence)


def not_reached(evidence: Evidence) -> Verdict:
    """The host knocked, and nobody opened."""
    return Verdict(State.BROKE, "the host could connect to it") if evidence.met else said(evidence)


def caller_not_starved(evidence: Evidence) -> Verdict:
    """The caller had what the attack has taken all of."""
    return Verdict(State.BROKE, "the caller had none left meanwhile") if evidence.met else said(evidence)


def host_facts() -> dict[str, set[str]]:
    """What identifies this host and its people."""
    facts = {"hostname": {platform.node()}, "user": {entry.pw_name for entry in pwd.getpwall()} - {"root", "nobody"}}
    for name, path in (
        ("machine-id", "/etc/machine-id"),
        ("boot-id", "/proc/sys/kernel/random/boot_id"),
        ("cmdline", "/proc/cmdline"),
        ("serial", "/sys/class/dmi/id/product_uuid"),
    ):
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            facts[name] = {file.read().strip()}
    return facts


def _in_time(evidence: Evidence) -> Verdict | None:
    limits, wall = evidence.attack.limits, evidence.last.usage.wall
    if wall > limits.wall + limits.grace + _TIME_TO_END:
        return Verdict(State.BROKE, f"it took {wall:.1f} s, and {limits.wall + limits.grace:.1f} s are allowed")
    return None


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return type(value) is dict and all(_is_plain(item) for item in value.values())
    if isinstance(value, list):
        return type(value) is list and all(_is_plain(item) for item in value)
    return value is None or type(value) in (bool, int, float, str)


JUDGES: dict[str, Callable[[Evidence], Verdict]] = {
    function.__name__: function
    for function in (
        said,
        expected,
        outcome_is_ours,
        no_value,
        plain_value,
        bounded_output,
        bounded_disk,
        files_are_harmless,
        nothing_left,
        values_differ,
        not_the_hosts,
        not_reached,
        caller_not_starved,
    )
}
