"""Runs of all kinds for as long as one likes: nothing may grow, and every end must be the right one."""

import argparse
import collections
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

import belljar
from belljar import Limits, Outcome

BLOCKS = 20
MEGABYTE = 1 << 20
# What may come on top of the first quarter: allocators keep some, and cells come and go while one looks.
ROOM = {"rss": 12 * MEGABYTE, "descriptors": 24, "processes": 24, "mounts": 2, "groups": 24, "entries": 8}
SLOWER = 2.5  # times the p99 of the first quarter; machines are noisy
ENOUGH = 2000  # runs, from which on a p99 says something


@dataclass(frozen=True)
class Kind:
    """A program, how it must end, and how often it comes."""

    name: str
    source: str
    ends: Outcome
    often: int
    limits: Limits | None = None


_DEAF = "import signal; signal.signal(2, 1)\nwhile True: pass"
KINDS = (
    Kind("good", "print('hello'); 6 * 7", Outcome.OK, 60),
    Kind("failing", "1 / 0", Outcome.FAILED, 10),
    Kind("leaving", "import sys; sys.exit(3)", Outcome.FAILED, 5),
    Kind("no program", "def", Outcome.REJECTED, 5),
    Kind("aborting", "import os; os.abort()", Outcome.CRASHED, 5),
    Kind("writing", "open('out.txt', 'w').write('x' * 100_000)", Outcome.OK, 5),
    Kind("talking", "print('x' * 2_000_000)", Outcome.OK, 4),
    Kind("endless", "while True: pass", Outcome.TIMED_OUT, 2, Limits(wall=0.2, grace=0.1)),
    Kind("deaf", _DEAF, Outcome.TIMED_OUT, 1, Limits(wall=0.2, grace=0.1)),
    Kind("greedy", "x = b'x' * (1 << 30)", Outcome.OUT_OF_MEMORY, 2, Limits(memory="96M")),
    Kind("daemon", "import os, time\nif os.fork() == 0: os.setsid(); time.sleep(1000)", Outcome.OK, 3),
    Kind("filling", "open('big', 'wb').write(b'x' * (8 << 20))", Outcome.FAILED, 2, Limits(disk="2M")),
)  # fmt: skip


@dataclass(frozen=True)
class Look:
    """What is there at one moment, and how the runs since the one before went."""

    runs: int
    rss: int
    descriptors: int
    processes: int
    mounts: int
    groups: int
    entries: int
    p50: float = 0.0
    p99: float = 0.0


class Soak:
    """One sandbox, some threads, and the looks at what there is."""

    def __init__(self, runs: int, workers: int, seed: int) -> None:
        self.looks: list[Look] = []
        self.wrong: list[str] = []
        self.ends: collections.Counter[str] = collections.Counter()
        self._chance = random.Random(seed)
        self._workers = workers
        self._kinds = self._chance.choices(KINDS, [kind.often for kind in KINDS], k=runs)
        self._times: list[float] = []
        self._lock = threading.Lock()

    def go(self) -> None:
        """All of it."""
        per_block = max(1, len(self._kinds) // BLOCKS)
        with tempfile.TemporaryDirectory(prefix="soak-") as base:
            tempfile.tempdir = base
            with belljar.Sandbox() as box:
                for begin in range(0, len(self._kinds), per_block):
                    self._block(box, self._kinds[begin : begin + per_block])
                    self.looks.append(self._look(base, begin + per_block))
            tempfile.tempdir = None

    def _block(self, box: belljar.Sandbox, kinds: list[Kind]) -> None:
        turns = iter(kinds)

        def work() -> None:
            while True:
                with self._lock:
                    kind = next(turns, None)
                if kind is None:
                    return
                self._run(box, kind)

        self._times = []
        threads = [threading.Thread(target=work) for _ in range(self._workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _run(self, box: belljar.Sandbox, kind: Kind) -> None:
        began = time.perf_counter()
        result = box.run(kind.source, limits=kind.limits)
        taken = (time.perf_counter() - began) * 1000
        with self._lock:
            self.ends[kind.name] += 1
            if kind.name == "good":
                self._times.append(taken)
            if result.outcome is not kind.ends:
                self.wrong.append(f"{kind.name} ended {result.outcome}, not {kind.ends}: {result.stderr[-200:]}")

    def _look(self, base: str, runs: int) -> Look:
        ours = {pid: name for pid, name in _processes() if name.startswith("belljar-")}
        looked_at = [os.getpid(), *(pid for pid, name in ours.items() if name in ("belljar-keeper", "belljar-zygote"))]
        times = sorted(self._times) or [0.0]
        return Look(
            runs=runs,
            rss=sum(_rss(pid) for pid in looked_at),
            descriptors=sum(_count(f"/proc/{pid}/fd") for pid in looked_at),
            processes=len(ours),
            mounts=len(_text("/proc/self/mountinfo").splitlines()),
            groups=sum(len(folders) for top, folders, _ in os.walk("/sys/fs/cgroup") if "/belljar" in top),
            entries=_count(base),
            p50=times[len(times) // 2],
            p99=times[int(len(times) * 0.99)],
        )

    def verdicts(self) -> Iterator[str]:
        """What is not as it must be."""
        yield from self.wrong[:20]
        if sum(self.ends.values()) != len(self._kinds):
            yield f"{sum(self.ends.values())} results for {len(self._kinds)} runs"
        early, late = self.looks[1 : BLOCKS // 4 + 1], self.looks[-BLOCKS // 4 :]
        if not early:
            return
        for name, room in ROOM.items():
            before, after = (max(getattr(look, name) for look in looks) for looks in (early, late))
            if after > before + room:
                yield f"{name} grew from {before} to {after}"
        before, after = (min(look.p99 for look in looks) for looks in (early, late))
        if len(self._kinds) >= ENOUGH and after > SLOWER * before:
            yield f"p99 grew from {before:.1f} to {after:.1f} ms"


def _processes() -> Iterator[tuple[int, str]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            yield int(name), _text(f"/proc/{name}/comm").strip()


def _rss(pid: int) -> int:
    fields = _text(f"/proc/{pid}/statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _count(directory: str) -> int:
    try:
        return len(os.listdir(directory))
    except OSError:
        return 0  # it is gone, or belongs to another


def _text(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def main() -> int:
    """Read the options, soak, tell."""
    parser = argparse.ArgumentParser(prog="scripts/soak")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    soak = Soak(asked.runs, asked.workers, asked.seed)
    began = time.monotonic()
    soak.go()
    bad = list(soak.verdicts())
    if asked.json:
        print(json.dumps({"ends": soak.ends, "looks": [asdict(look) for look in soak.looks], "bad": bad}, indent=1))
        return bool(bad)
    print("    runs  rss MiB  fds  processes  mounts  groups  entries    p50    p99 ms")
    for look in soak.looks:
        print(
            f"{look.runs:>8}{look.rss / MEGABYTE:>9.1f}{look.descriptors:>5}{look.processes:>11}{look.mounts:>8}"
            f"{look.groups:>8}{look.entries:>9}{look.p50:>7.1f}{look.p99:>7.1f}"
        )
    for text in bad:
        print(f"bad: {text}")
    seconds = time.monotonic() - began
    print(f"{sum(soak.ends.values())} runs in {seconds:.0f} s, {dict(soak.ends)}: {'bad' if bad else 'nothing grows'}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
