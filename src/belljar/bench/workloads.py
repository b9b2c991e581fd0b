"""What is done: small programs whose output is known, the same for every contestant."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """One program. `rounds` is a share of the rounds that are asked for: long ones need fewer."""

    name: str
    title: str
    source: str
    prints: str
    needs: tuple[str, ...] = ()
    rounds: float = 1.0
    only: tuple[str, ...] = ()
    """The contestants that it is meant for; all of them where it is empty."""

    def lacking(self) -> str | None:
        """Why it cannot be done here, or None."""
        missing = [name for name in self.needs if importlib.util.find_spec(name) is None]
        return f"{' and '.join(missing)} not installed for this interpreter" if missing else None


_SELF = ("bare", "belljar", "belljar-local")

LATENCY: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload("hello", "print('hello')", "print('hello')", "hello\n"),
        Workload(
            "frame",
            "numpy and pandas: a small frame, summed",
            "import numpy, pandas\nprint(int(pandas.DataFrame({'a': numpy.arange(10)}).a.sum()))",
            "45\n",
            needs=("numpy", "pandas"),
            rounds=0.3,
            only=_SELF,
        ),
        Workload(
            "imports",
            "twelve modules of the standard library",
            "import argparse, asyncio, csv, dataclasses, decimal, email\n"
            "import html, http.client, logging, sqlite3, unittest, zipfile\nprint('in')",
            "in\n",
            rounds=0.5,
            only=_SELF,
        ),
        Workload(
            "processor",
            "a loop of three million rounds",
            "s = 0\nfor i in range(3_000_000): s += i * i\nprint(s)",
            "8999995500000500000\n",
            rounds=0.2,
            only=_SELF,
        ),
        Workload(
            "calls",
            "os.stat, a hundred thousand times",
            "import os\nfor i in range(100_000): os.stat('/usr')\nprint('done')",
            "done\n",
            rounds=0.2,
            only=_SELF,
        ),
    )
}  # fmt: skip
