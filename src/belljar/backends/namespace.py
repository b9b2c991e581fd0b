"""The backend `namespace`: cells behind the kernel's own walls, with and without root."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from belljar.backends.process import ProcessCell
from belljar.errors import SetupError, Unsupported
from belljar.limits import Limits
from belljar.plan import CLEAN_ENVIRONMENT, Plan
from belljar.report import Layer, LayerState, Level, Report
from belljar.zygote.client import Keeper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from belljar.policy import Policy
    from belljar.waits import Waits
    from belljar.zygote.protocol import Packet

_MOST_PARKED = 4
_HELD, _SOFT, _OPEN = LayerState.ENFORCED, LayerState.BEST_EFFORT, LayerState.MISSING


class NamespaceBackend:
    """Cells with namespaces, a root, a user and a lock-down of their own."""

    name = "namespace"

    def __init__(self, *, preload: Iterable[str] = (), python: str | None = None, parked: int | None = None) -> None:
        if not sys.platform.startswith("linux"):
            raise SetupError(f"it needs Linux, and this is {sys.platform}", layer="platform")
        self._python = python or sys.executable
        if not self._python:
            raise SetupError("sys.executable is not set", layer="keeper", cure="name an interpreter by python=")
        self._preload = list(preload)
        self._parked = min(_MOST_PARKED, os.cpu_count() or 1) if parked is None else parked
        self._keepers: dict[tuple[str, str], Keeper] = {}
        self.closed = False
        self._keeper_for("none", "belljar").start()  # it comes up while the caller is on the way to its first run

    def plan(self, policy: Policy) -> Plan:
        if policy.mounts:
            raise Unsupported(backend=self.name, feature="mounts")
        return Plan(policy=policy, environment=policy.env)

    async def acquire(self, plan: Plan, waits: Waits) -> ProcessCell:
        policy = plan.policy
        taken = await self._keeper_for(policy.network, policy.hostname).take(waits)
        return ProcessCell(taken, waits, report_of(taken.facts))

    def close(self) -> None:
        self.closed = True
        for keeper in self._keepers.values():
            keeper.close()

    def _keeper_for(self, network: str, hostname: str) -> Keeper:
        """What cannot change once a cell is parked has a keeper of its own."""
        key = (network, hostname)
        if key not in self._keepers:
            walls = {
                "rootful": os.geteuid() == 0,
                "owner": [os.geteuid(), os.getegid()],
                "network": network,
                "hostname": hostname,
                "disk": Limits().disk,
                "files": Limits().files,
            }
            settings = {"preload": self._preload, "parked": self._parked, "env": CLEAN_ENVIRONMENT, "walls": walls}
            self._keepers[key] = Keeper(python=self._python, settings=settings)
        return self._keepers[key]


def report_of(facts: Packet) -> Report:
    """The report of a cell, from what its init has found to hold in it."""
    network = (_HELD, "network namespace", "loopback only") if facts["network"] == "none" else (_OPEN, "", "the host's")
    identity = "a user of its own on the host" if facts["rootful"] else "the caller's user on the host"
    landlock = (_HELD, f"Landlock ABI {facts['landlock']}") if facts["landlock"] else (_OPEN, "")
    rows: tuple[tuple[str, LayerState, str, str], ...] = (
        ("filesystem", _HELD, "mount namespace", "a root of its own, the least of the host, read-only"),
        ("network", *network),
        ("processes", _HELD, "pid namespace", "sees and signals nobody outside"),
        ("ipc", _HELD, "ipc namespace", ""),
        ("identity", _HELD, "user namespace", identity),
        (
            "capabilities",
            _HELD,
            "capset, bounding set",
            f"effective {facts['CapEff']:#x}, bounding {facts['CapBnd']:#x}",
        ),
        ("no_new_privs", _HELD, "prctl", ""),
        ("syscalls", _HELD, "seccomp", f"mode {facts['Seccomp']}"),
        ("paths", *landlock, "" if facts["landlock"] else "this kernel has none, or it is off"),
        ("memory", _SOFT, "watcher", "looks every 20 to 50 ms"),
        ("process count", _SOFT, "watcher", "looks every 20 to 50 ms"),
        ("cpu", _SOFT, "watcher and RLIMIT_CPU", ""),
        ("disk", _HELD, "tmpfs", "bytes and inodes of all writable places together"),
        ("open files", _HELD, "RLIMIT_NOFILE", "of each process"),
        ("end", _HELD, "pid namespace", "the whole tree is dead before a result"),
    )
    layers = tuple(Layer(name=name, state=state, by=by, detail=detail) for name, state, by, detail in rows)
    return Report(level=Level.ROOTLESS, layers=layers)
