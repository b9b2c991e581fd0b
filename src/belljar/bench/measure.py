"""The measuring: in turns, so that a machine whose speed drifts does so for all; and the figures of it."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from belljar.bench.contestants import CONTESTANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from belljar.bench.contestants import Run
    from belljar.bench.workloads import Workload

_WARM_UP = 3
_PAUSE = 0.02  # seconds between two turns, in which the one before comes to rest
_TICKS = os.sysconf("SC_CLK_TCK")
_IDLE = (3, 4)  # of /proc/stat: idle, iowait


@dataclass(frozen=True)
class Times:
    """How long each turn of a contestant took, in milliseconds."""

    contestant: str
    milliseconds: tuple[float, ...]

    def percentile(self, share: float) -> float:
        """The time that this share of the turns stayed below."""
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@dataclass(frozen=True)
class Rate:
    """What came of as many runs as possible: `busy` is processor time of the whole machine, in ms for each run."""

    contestant: str
    workers: int
    runs_per_second: float
    busy: float
    times: Times


def in_turns(
    workload: Workload, names: Iterable[str], rounds: int, step: Callable[[], object] = lambda: None
) -> list[Times]:
    """Each contestant once, then each once more, `rounds` times. The first turns do not count."""
    found: dict[str, list[float]] = {name: [] for name in names}
    with ExitStack() as stack:
        runs = {name: CONTESTANTS[name].open(stack, _preload(name, workload)) for name in found}
        for number in range(-_WARM_UP, max(3, round(rounds * workload.rounds))):
            for name, run in runs.items():
                taken = _timed(run, workload)
                if number >= 0:
                    found[name].append(taken)
                step()
                time.sleep(_PAUSE)
    return [Times(name, tuple(milliseconds)) for name, milliseconds in found.items()]


def as_many_as_possible(workload: Workload, name: str, workers: int, runs: int) -> Rate:
    """So many runs by so many threads."""
    with ExitStack() as stack:
        run = CONTESTANTS[name].open(stack, _preload(name, workload))
        for _ in range(_WARM_UP):
            _timed(run, workload)
        turns = iter(range(runs))
        taken: list[float] = []

        def work() -> None:
            while next(turns, None) is not None:  # one step of a range: threads do not disturb each other in it
                taken.append(_timed(run, workload))

        threads = [threading.Thread(target=work) for _ in range(workers)]
        busy, began = _busy(), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, busy = time.perf_counter() - began, _busy() - busy
    if len(taken) < runs:
        raise RuntimeError(f"{name}: only {len(taken)} of {runs} runs came to an end")
    return Rate(name, workers, runs / seconds, busy / runs * 1000, Times(name, tuple(taken)))


def _preload(name: str, workload: Workload) -> tuple[str, ...]:
    return workload.needs if CONTESTANTS[name].preloads else ()


def _timed(run: Run, workload: Workload) -> float:
    began = time.perf_counter()
    printed = run(workload.source)
    taken = (time.perf_counter() - began) * 1000
    if printed != workload.prints:
        raise RuntimeError(f"{workload.name} printed {printed[:80]!r}, and should have printed {workload.prints!r}")
    return taken


def _busy() -> float:
    """Seconds that the processors of this machine have worked, for whomever."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return sum(count for column, count in enumerate(ticks) if column not in _IDLE) / _TICKS
