"""`belljar bench`: how fast it is here, beside what else is installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from belljar.bench import report
from belljar.bench.contestants import CONTESTANTS
from belljar.bench.measure import as_many_as_possible, in_turns
from belljar.bench.memory import of_a_parked_cell
from belljar.bench.workloads import LATENCY
from belljar.cli.parser import Parser
from belljar.cli.screen import Progress, write
from belljar.errors import SetupError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from belljar.bench.workloads import Workload

SUMMARY = "Measure it on this machine, beside what else runs code."
_HELP = """Measure how long runs take on this machine, and how many there can be, beside a bare interpreter and each
peer that is installed.

All of them take turns, so that a machine whose speed drifts does so for all. Read the ratios: milliseconds belong to
one machine. Nothing else should be running: `busy` is the processor time of the whole machine.
"""
_EPILOG = """Examples:
  belljar bench
  belljar bench --rounds 10 --workload hello
  belljar bench --contestant bare --contestant belljar --json
  belljar bench --picture bench.svg

Exit codes: 0 measured; 2 wrong usage; 125 this machine cannot run it, or a contestant did something else.
"""
_ROUNDS, _MOST_ROUNDS = 40, 10_000
_MANY = {"bare": (2, 4), "belljar": (1, 4, 16, 64)}
_OTHERS = (4,)
_RUNS = {"belljar": 20, "belljar-cold": 20, "belljar-local": 20}
"""Runs for each round where as many as possible are made; of the others, fewer."""


def parser() -> Parser:
    """Its options."""
    parser = Parser("bench", _HELP, _EPILOG)
    add = parser.add_argument
    add("--rounds", metavar="N", default=str(_ROUNDS), help=f"Turns of each (default {_ROUNDS}).")
    add(
        "--workload",
        metavar="NAME",
        action="append",
        default=[],
        help=f"Only this one of {', '.join([*LATENCY, 'rate', 'memory'])}. Repeatable.",
    )
    add(
        "--contestant",
        metavar="NAME",
        action="append",
        default=[],
        help=f"Only this one of {', '.join(CONTESTANTS)}. Repeatable.",
    )
    add("--picture", metavar="FILE", help="Write the times as an SVG, too.")
    add("--json", dest="as_json", action="store_true", help="Print all of it as one JSON document.")
    return parser


def main(asked: Namespace) -> int:
    """Measure, and print what was found."""
    rounds = _rounds(asked.rounds)
    workloads = _chosen("--workload", asked.workload, [*LATENCY, "rate", "memory"])
    names = _chosen("--contestant", asked.contestant, CONTESTANTS)
    try:
        found = _measure(workloads, names, rounds)
    except RuntimeError as error:
        raise SetupError(str(error), layer="bench") from error
    if asked.picture is not None:
        with open(asked.picture, "w", encoding="utf-8") as file:
            file.write(report.picture(found))
    text = json.dumps(report.to_dict(found), indent=1) if asked.as_json else "\n".join(report.lines(found))
    write("stdout", f"{text}\n".encode())
    return 0


def _rounds(given: str) -> int:
    if not given.isdecimal() or not 1 <= int(given) <= _MOST_ROUNDS:
        raise UsageError.about("--rounds", given, f"a whole number from 1 to {_MOST_ROUNDS}")
    return int(given)


def _chosen(option: str, given: list[str], known: Iterable[str]) -> list[str]:
    for name in given:
        if name not in known:
            raise UsageError.about(option, name, f"one of {', '.join(known)}")
    return given or list(known)


def _measure(workloads: list[str], names: list[str], rounds: int) -> report.Report:
    found = report.Report(level=_level())
    progress = Progress(len(workloads))
    for name in names:
        if reason := CONTESTANTS[name].lacking():
            found.absent[name] = reason
    there = [name for name in names if name not in found.absent]
    for workload in workloads:
        progress.step(workload)
        if workload == "rate":
            found.rates += [
                as_many_as_possible(LATENCY["hello"], name, workers, rounds * _RUNS.get(name, 5))
                for name in there
                if CONTESTANTS[name].together
                for workers in _MANY.get(name, _OTHERS)
            ]
        elif workload == "memory":
            found.memory |= _memory()
        elif reason := LATENCY[workload].lacking():
            found.absent[workload] = reason
        else:
            found.times[workload] = in_turns(LATENCY[workload], _of(LATENCY[workload], there), rounds)
    progress.end()
    return found


def _of(workload: Workload, names: list[str]) -> list[str]:
    return [name for name in names if not workload.only or name in workload.only]


def _memory() -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for workload in (LATENCY["hello"], LATENCY["frame"]):
        if not workload.lacking():
            memory = of_a_parked_cell(workload.needs)
            found[", ".join(workload.needs)] = memory.cell if memory else None
    return found


def _level() -> str:
    from belljar.sandbox import Sandbox

    with Sandbox() as box:
        return str(box.run("1").report.level)
