"""What a parked cell costs in memory: its share (PSS) of the pages of its two processes."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass

from belljar.linux.processes import children

_PATIENCE = 10.0  # seconds for the cells to park
_REST = 0.3


@dataclass(frozen=True)
class Memory:
    """Bytes of one parked cell (init and worker), and how many were looked at."""

    cell: int
    cells: int


def of_a_parked_cell(preload: tuple[str, ...] = ()) -> Memory | None:
    """Start a sandbox, let cells park, and look at their pages; None where this user may not see them."""
    from belljar.sandbox import Sandbox

    before = _inits()
    with Sandbox(preload=preload) as box:
        for _ in range(3):
            box.run("1")
        until = time.monotonic() + _PATIENCE
        while not (parked := _inits() - before) and time.monotonic() < until:
            time.sleep(_REST)
        time.sleep(_REST)  # for the rehearsal
        parked = _inits() - before
        shares = [share for init in parked if (share := _share(init)) is not None]
    return Memory(sum(shares) // len(shares), len(shares)) if shares else None


def _inits() -> set[int]:
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as file:
                if file.read().strip() == "belljar-init":
                    found.add(int(name))
    return found


def _share(init: int) -> int | None:
    """PSS of an init and its worker."""
    total = 0
    try:
        for pid in (init, *children(init)):
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    except OSError:
        return None
    return total
