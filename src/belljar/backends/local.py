"""The backend `local`: plain processes of the caller's own user, without any isolation, as its report says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from belljar.backends.process import ProcessCell
from belljar.errors import SetupError, Unsupported
from belljar.plan import CLEAN_ENVIRONMENT, Plan, check_floor
from belljar.report import Layer, LayerState, Level, Report
from belljar.zygote.client import Keeper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from belljar.policy import Policy
    from belljar.waits import Waits

_MOST_PARKED = 8

REPORT = Report(
    level=Level.NONE,
    layers=(
        Layer(
            name="filesystem",
            state=LayerState.MISSING,
            by="",
            detail="the code can do what the caller's user can",
        ),
        Layer(name="network", state=LayerState.MISSING, by="", detail="the code has the network of the host"),
        Layer(
            name="processes",
            state=LayerState.MISSING,
            by="",
            detail="the code sees the processes of the host",
        ),
        Layer(name="syscalls", state=LayerState.MISSING, by="", detail="every system call is open"),
        Layer(
            name="environment",
            state=LayerState.ENFORCED,
            by="exec",
            detail="made from nothing plus the policy",
        ),
        Layer(
            name="end",
            state=LayerState.ENFORCED,
            by="subreaper",
            detail="the whole tree is dead before a result",
        ),
        Layer(name="memory", state=LayerState.BEST_EFFORT, by="watcher", detail="looks every 20 to 50 ms"),
        Layer(name="process count", state=LayerState.BEST_EFFORT, by="watcher", detail="looks every 20 to 50 ms"),
        Layer(name="cpu", state=LayerState.BEST_EFFORT, by="watcher and RLIMIT_CPU"),
        Layer(name="disk", state=LayerState.BEST_EFFORT, by="RLIMIT_FSIZE", detail="counts each file by itself"),
        Layer(name="open files", state=LayerState.ENFORCED, by="RLIMIT_NOFILE", detail="of each process"),
    ),
)


class LocalBackend:
    """Cells that are plain processes."""

    name = "local"

    def __init__(self, *, preload: Iterable[str] = (), python: str | None = None, parked: int | None = None) -> None:
        if not sys.platform.startswith("linux"):
            raise SetupError(f"it needs Linux, and this is {sys.platform}", layer="platform")
        python = python or sys.executable
        if not python:
            raise SetupError("sys.executable is not set", layer="keeper", cure="name an interpreter by python=")
        if parked is None:
            parked = _MOST_PARKED
        settings = {
            "preload": list(preload),
            "parked": parked,
            "env": CLEAN_ENVIRONMENT,
            "walls": None,
            "locked": False,
        }
        self._keeper = Keeper(python=python, settings=settings)
        self._keeper.start()  # it comes up while the caller is still on the way to its first run

    @property
    def closed(self) -> bool:
        return self._keeper.closed

    def plan(self, policy: Policy) -> Plan:
        if policy.mounts:
            raise Unsupported(backend=self.name, feature="mounts", instead="the code sees the host's files as they are")
        check_floor(policy, REPORT, self.name)
        return Plan(policy=policy, environment=policy.env)

    async def acquire(self, plan: Plan, waits: Waits) -> ProcessCell:  # noqa: ARG002  all plans are alike here
        return ProcessCell(await self._keeper.take(waits), waits, REPORT)

    def close(self) -> None:
        self._keeper.close()
