"""The backend `namespace`: cells behind the kernel's own walls, with and without root."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from belljar.backends.process import ProcessCell
from belljar.errors import PolicyError, SetupError, Unsupported
from belljar.files import Collection, full
from belljar.limits import Limits
from belljar.linux import userids
from belljar.plan import CLEAN_ENVIRONMENT, Plan
from belljar.policy import Mount, Policy
from belljar.report import Layer, LayerState, Level, Report
from belljar.zygote.client import Keeper
from belljar.zygote.groups import group_of
from belljar.zygote.protocol import receive_packet
from belljar.zygote.template import WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from belljar.backends.base import Ended
    from belljar.files import Input
    from belljar.linux.cgroup import Group
    from belljar.waits import Waits
    from belljar.zygote.client import Taken
    from belljar.zygote.protocol import Packet

_MOST_PARKED = 8
_ROOM = 16
_TERABYTES = 64 << 40
_OURS = ("/bin", "/dev", "/etc", "/jar", "/lib", "/lib64", "/proc", "/sbin", "/tmp", "/usr", WORKSPACE)
# The stages of a launch that fail where there are no user namespaces, or only tame ones.
_NEED_NAMESPACES = ("namespaces", "user namespace", "mounts:", "maps", "jar", "proc", "zygote")
_Key = tuple[str, str, tuple[Mount, ...], bool]
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
        self._parked = _MOST_PARKED if parked is None else parked
        self._lock = Lock()
        self._keepers: dict[_Key, Keeper] = {}
        self._reduced = self._keeper(walls=None)
        self._no_namespaces = False
        self.closed = False
        self._keeper_for(Policy()).start()  # it comes up while the caller is on the way to its first run

    def plan(self, policy: Policy) -> Plan:
        for mount in policy.mounts:
            _check_mount(mount)
        return Plan(policy=policy, environment=policy.env)

    async def acquire(self, plan: Plan, waits: Waits) -> ProcessCell:
        policy = plan.policy
        if self._no_namespaces and Level.REDUCED.at_least(policy.level):
            return await self._reduced_cell(policy, waits)
        try:
            taken = await self._keeper_for(policy).take(waits)
        except SetupError as error:
            if not error.layer.startswith(_NEED_NAMESPACES) or not Level.REDUCED.at_least(policy.level):
                raise
            self._no_namespaces = True
            return await self._reduced_cell(policy, waits)
        return NamespaceCell(taken, waits, report_of(taken.facts, taken.group), policy)

    def close(self) -> None:
        self.closed = True
        for keeper in (*self._keepers.values(), self._reduced):
            keeper.close()

    async def _reduced_cell(self, policy: Policy, waits: Waits) -> ProcessCell:
        """Where there are no user namespaces and the caller has accepted that: Landlock, seccomp and rlimits."""
        if policy.mounts or policy.network != "none":
            raise Unsupported(backend=self.name, feature="mounts and a network at level 'reduced'")
        taken = await self._reduced.take(waits)
        return ProcessCell(taken, waits, reduced_report_of(taken.facts))

    def _keeper_for(self, policy: Policy) -> Keeper:
        """What cannot change once a cell is parked has a keeper of its own."""
        key = (policy.network, policy.hostname, policy.mounts, policy.trace_denials)
        with self._lock:
            return self._keepers.get(key) or self._make_keeper(key)

    def _make_keeper(self, key: _Key) -> Keeper:
        network, hostname, mounts, trace = key
        if key not in self._keepers:
            walls = {
                "rootful": userids.can_be_given(),
                "owner": [os.geteuid(), os.getegid()],
                "network": network,
                "hostname": hostname,
                "trace": trace,
                "mounts": [[mount.source, mount.target, mount.mode] for mount in mounts],
                "disk": Limits().disk,
                "files": Limits().files,
                "group": {"memory": Limits().memory, "processes": Limits().processes},
            }
            self._keepers[key] = self._keeper(walls)
        return self._keepers[key]

    def _keeper(self, walls: Packet | None) -> Keeper:
        settings = {"preload": self._preload, "parked": self._parked, "env": CLEAN_ENVIRONMENT}
        return Keeper(python=self._python, settings={**settings, "walls": walls, "locked": True})


class NamespaceCell(ProcessCell):
    """A cell behind walls, with a control group where the host gives one."""

    def __init__(self, taken: Taken, waits: Waits, report: Report, policy: Policy) -> None:
        super().__init__(taken, waits, report)
        self._in_place = any(mount.target == WORKSPACE for mount in policy.mounts)
        self._group = group_of(taken.group) if taken.group else None
        self._too_large = False

    def _watched(self, limits: Limits) -> dict[str, float | None]:
        """With a group the kernel holds memory and processes; the init is left with the CPU time."""
        watched = super()._watched(limits)
        if self._group is None:
            return watched
        self._bound(self._group, limits)
        return {**watched, "memory": None, "processes": None}

    def _bound(self, group: Group, limits: Limits) -> None:
        """Give the group the limits of this run, where they are others than those of a parked cell."""
        parked = Limits()
        try:
            if (limits.memory, limits.processes, limits.cpus) != (parked.memory, parked.processes, parked.cpus):
                group.limit(memory=limits.memory, processes=limits.processes, cpu_quota=limits.cpus)
            if limits.cpu is not None:
                group.count_cpu_time()  # waited for or not: the init sees only those that somebody waits for
        except FileNotFoundError:
            pass  # the keeper has gone, and the end of the run says so
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            self._too_large = True  # a cell that has done nothing yet uses more than that

    def _rlimits(self, limits: Limits) -> dict[str, int]:
        """Processes are counted in the cell's own user namespace, so this one binds; the init is one of them.

        Where there is a group it stands behind that, which counts what it refuses.
        """
        values = {**super()._rlimits(limits), "RLIMIT_NPROC": limits.processes + (_ROOM if self._group else 1)}
        values["RLIMIT_FSIZE"] = 2 * limits.disk  # behind the size of the jar, which tells that it was reached
        if self._group:
            values["RLIMIT_DATA"] = _TERABYTES  # sanitizers reserve some
        return values

    async def _shape(self, limits: Limits) -> None:
        if self._too_large:
            self.kill()
            return
        facts = self._taken.facts
        if (limits.disk, limits.files) != (facts["disk"], facts["files"]):
            await self._waits.ready([self._taken.init])
            receive_packet(self._init)  # the jar has its size now; or the init is gone, which the next read will tell

    def _ended(self, record: Packet) -> Ended:
        ended = super()._ended(record)
        if self._group is None:
            return ended
        try:
            used, cpu = self._group.usage(), self._group.cpu_time()
        except FileNotFoundError:  # the keeper has gone and taken it along: nobody can say what the kernel has counted
            return replace(ended, lost=True)
        over = used.oom_kills or self._too_large
        hit = {name for name, count in (("memory", over), ("processes", used.process_refusals)) if count}
        return replace(
            ended,
            stopped="memory" if over and ended.exit_code != 0 else ended.stopped,
            hit=ended.hit | hit,
            cpu_user=cpu[0] if cpu else ended.cpu_user,
            cpu_system=cpu[1] if cpu else ended.cpu_system,
            memory_peak=used.memory_peak,
            processes_peak=used.processes_peak or ended.processes_peak,
        )

    def collect(self, inputs: tuple[Input, ...], limits: Limits) -> Collection:
        if self._in_place:
            return Collection({}, 0)  # the files are where they belong already
        found = super().collect(inputs, limits)
        return replace(found, hit=found.hit | full(self._taken.workspace))


def _check_mount(mount: Mount) -> None:
    """A mount needs a place that nothing of ours covers, and a source that is there."""
    taken = next((place for place in _OURS if mount.target == place or mount.target.startswith(place + "/")), None)
    if taken is not None and mount.target != WORKSPACE:
        raise PolicyError.about("mount.target", mount.target, f"a path outside of {taken}, which a cell makes itself")
    if not os.path.exists(mount.source):
        raise PolicyError.about("mount.source", mount.source, "a directory or file that exists")


def report_of(facts: Packet, group: Packet | None) -> Report:
    """The report of a cell, from what its init has found to hold in it."""
    network = (_HELD, "network namespace", "loopback only") if facts["network"] == "none" else (_OPEN, "", "the host's")
    identity = "a user of its own on the host" if facts["rootful"] else "the caller's user on the host"
    landlock = (_HELD, f"Landlock ABI {facts['landlock']}") if facts["landlock"] else (_OPEN, "")
    cgroup = f"cgroup v{group['generation']}" if group else ""
    has_quota = group is not None and group["quota"]
    quota = (_HELD, cgroup, "and affinity") if has_quota else (_SOFT, "affinity", "the code can change it")
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
        ("memory", _HELD, cgroup, "with swap") if group else ("memory", _SOFT, "watcher", "looks every 20 to 50 ms"),
        ("process count", _HELD, f"{cgroup}, RLIMIT_NPROC" if group else "RLIMIT_NPROC", "threads count"),
        ("cpu", _SOFT, "watcher and RLIMIT_CPU", ""),
        ("cpus", *quota),
        ("disk", _HELD, "tmpfs", "bytes and inodes of all writable places together"),
        ("open files", _HELD, "RLIMIT_NOFILE", "of each process"),
        ("end", _HELD, "pid namespace", "the whole tree is dead before a result"),
    )
    layers = tuple(Layer(name=name, state=state, by=by, detail=detail) for name, state, by, detail in rows)
    return Report(level=Level.FULL if group else Level.ROOTLESS, layers=layers)


def reduced_report_of(facts: Packet) -> Report:
    """The report of a cell that has no namespaces."""
    signals = facts["landlock"] >= 6
    rows: tuple[tuple[str, LayerState, str, str], ...] = (
        ("filesystem", _HELD, f"Landlock ABI {facts['landlock']}", "its own directory, and the system read-only"),
        ("network", _HELD, "seccomp", "no socket can be made"),
        ("processes", _OPEN, "", "the code sees that others run, and has their user"),
        ("signals", _HELD if signals else _OPEN, "Landlock scope" if signals else "", "to processes outside"),
        ("identity", _OPEN, "", "the caller's user"),
        ("capabilities", _HELD, "capset", f"effective {facts['CapEff']:#x}"),
        ("no_new_privs", _HELD, "prctl", ""),
        ("syscalls", _HELD, "seccomp", f"mode {facts['Seccomp']}"),
        ("memory", _SOFT, "watcher", "looks every 20 to 50 ms"),
        ("process count", _SOFT, "watcher", "looks every 20 to 50 ms"),
        ("cpu", _SOFT, "watcher and RLIMIT_CPU", ""),
        ("disk", _SOFT, "RLIMIT_FSIZE", "counts each file by itself"),
        ("open files", _HELD, "RLIMIT_NOFILE", "of each process"),
        ("end", _HELD, "subreaper", "the whole tree is dead before a result"),
    )
    layers = tuple(Layer(name=name, state=state, by=by, detail=detail) for name, state, by, detail in rows)
    return Report(level=Level.REDUCED, layers=layers)
