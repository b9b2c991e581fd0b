"""`belljar prove`: attacks of our own against the walls of this machine."""

from __future__ import annotations

import json
import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from belljar.cli.parser import Parser
from belljar.cli.screen import Progress, write
from belljar.errors import UsageError
from belljar.prove import report
from belljar.prove.attacks import CATEGORIES, Attack, corpus
from belljar.prove.runner import prove as prove_all
from belljar.prove.throwaway import run_in

if TYPE_CHECKING:
    from argparse import Namespace

    from belljar.prove.runner import Proof, Tried

SUMMARY = "Attack the walls of this machine."
_HELP = """Try to break out: run a corpus of attacks, and judge each from outside.

Each runs in a cell of its own, as a run of yours would. What held is told with the layer that held it, as far as
that is known. An attack that crashes, or does not say what came of it, is unclear: that is not held.

With --backend local there are no walls, and most attacks get through: it shows that the corpus can fail. They run in a
namespace that is thrown away then, and do no harm.
"""
_EPILOG = """Examples:
  belljar prove
  belljar prove --only "network/*"
  belljar prove --category leaks --json
  belljar prove --list

Exit codes: 0 everything held that is promised; 1 something broke or is unclear;
125 this machine cannot run it; 2 wrong usage.
"""
_MOST_WORKERS = 8
_COLORS = {"held": "green", "broke": "bold red", "known": "yellow", "unclear": "yellow", "skipped": "dim"}


def parser() -> Parser:
    """Its options."""
    parser = Parser("prove", _HELP, _EPILOG)
    add = parser.add_argument
    add("--backend", metavar="NAME", default="namespace", help="Whose cells to attack (default namespace).")
    add("--only", metavar="GLOB", help="Only attacks whose name matches.")
    add("--category", metavar="C", help=f"Only one of: {', '.join(CATEGORIES)}.")
    add("--workers", metavar="N", help="How many at a time (default: 2 a processor).")
    add("--json", dest="as_json", action="store_true", help="Print all of it as one JSON document.")
    add("--list", dest="as_list", action="store_true", help="List the attacks, and run none.")
    return parser


def main(asked: Namespace) -> int:
    """Read the options, attack, and exit."""
    attacks = chosen(asked.only, asked.category)
    if asked.as_list:
        write("stdout", "".join(f"{line}\n" for line in report.listing(attacks)).encode())
        return 0
    at_once = _workers(asked.workers)
    if asked.backend == "local":
        return run_in(lambda: _attack(attacks, asked.backend, at_once, asked.as_json))
    return _attack(attacks, asked.backend, at_once, asked.as_json)


def _workers(given: str | None) -> int:
    if given is None:
        return min(_MOST_WORKERS, 2 * (os.cpu_count() or 1))
    if not given.isdecimal() or not 1 <= int(given) <= _MOST_WORKERS:
        raise UsageError.about("--workers", given, f"a whole number from 1 to {_MOST_WORKERS}")
    return int(given)


def chosen(only: str | None, category: str | None) -> list[Attack]:
    """The attacks that are asked for; at least one."""
    if category is not None and category not in CATEGORIES:
        raise UsageError.about("--category", category, f"one of {', '.join(CATEGORIES)}")
    attacks = [
        attack
        for attack in corpus()
        if category in (None, attack.category) and (only is None or fnmatchcase(attack.name, only))
    ]
    if not attacks:
        raise UsageError.about("--only", only, "a pattern that matches an attack (see belljar prove --list)")
    return attacks


def _attack(attacks: list[Attack], backend: str, workers: int, as_json: bool) -> int:
    progress = Progress(len(attacks))

    def step(tried: Tried) -> None:
        progress.step(tried.attack.name)

    proof = prove_all(attacks, backend=backend, workers=workers, on_tried=step)
    progress.end()
    if as_json:
        write("stdout", json.dumps(report.to_dict(proof)).encode() + b"\n")
    elif os.isatty(1):
        _show_table(proof)
    else:
        write("stdout", "".join(f"{line}\n" for line in report.lines(proof)).encode())
    if not as_json:
        notes = [*(f"on the host: {report.plain(what)}" for what in proof.damage), report.summary(proof)]
        write("stdout", "".join(f"{note}\n" for note in notes).encode())
    return 0 if proof.holds else 1


def _show_table(proof: Proof) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*report.COLUMNS, box=None, pad_edge=False)
    for name, severity, verdict, why in report.rows(proof):
        table.add_row(Text(name), Text(severity), Text(verdict, _COLORS[verdict]), Text(why, overflow="fold"))
    Console().print(table)
