"""Control groups of the second generation: one tree, and controllers that each level hands to the next one.

A group with processes cannot hand controllers to groups below it ("no internal processes"). So the processes are in
the leaves only, and all above (the place where we start, `belljar`, the keeper's directory) hold none.
"""

import errno
import os
import time

from belljar.linux.cgroup import (
    MOST_PIDS,
    GroupUsage,
    below,
    can_make,
    discard,
    exists,
    fields,
    make,
    own_places,
    read,
    wait_empty,
    write,
)
from belljar.linux.mounts import parse_mountinfo

_NEEDED = ("memory", "pids")
_WANTED = (*_NEEDED, "cpu")
_PERIOD = 100_000  # microseconds
_REST = "belljar.rest"


class GroupV2:
    """The group of one cell: a leaf."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def limit(
        self,
        *,
        memory: int | None = None,
        swap_off: bool = True,
        processes: int | None = None,
        cpu_quota: float | None = None,
    ) -> None:
        """See Group. A memory limit makes the kernel's OOM killer end the whole group, not one process of it."""
        here = self.directory
        if memory is not None:
            write(here, "memory.max", str(memory))
            write(here, "memory.oom.group", "1")
            if swap_off and exists(here, "memory.swap.max"):
                write(here, "memory.swap.max", "0")
        if processes is not None:
            write(here, "pids.max", str(min(processes, MOST_PIDS)))
        if cpu_quota is not None and exists(here, "cpu.max"):
            write(here, "cpu.max", f"{max(1000, int(cpu_quota * _PERIOD))} {_PERIOD}")

    def attach(self, pid: int) -> None:
        """See Group."""
        write(self.directory, "cgroup.procs", str(pid))
        if pid not in self.pids():
            raise OSError(errno.ESRCH, "the process is not in its group", self.directory)

    def pids(self) -> list[int]:
        """See Group."""
        return [int(line) for line in read(self.directory, "cgroup.procs").split()]

    def kill(self, within: float = 5.0) -> bool:
        """See Group. Before Linux 5.14 there is no cgroup.kill: then frozen, killed, thawed."""
        deadline = time.monotonic() + within
        if exists(self.directory, "cgroup.kill"):
            write(self.directory, "cgroup.kill", "1")
            return wait_empty(self, deadline)
        return self._kill_frozen(deadline)

    def usage(self) -> GroupUsage:
        """See Group. memory.peak came with Linux 5.19, pids.peak with 6.1."""
        here = self.directory
        return GroupUsage(
            memory_peak=int(read(here, "memory.peak")) if exists(here, "memory.peak") else None,
            processes_peak=int(read(here, "pids.peak")) if exists(here, "pids.peak") else None,
            oom_kills=fields(read(here, "memory.events")).get("oom_kill", 0),
            process_refusals=fields(read(here, "pids.events")).get("max", 0),
        )

    def count_cpu_time(self) -> None:
        """See Group."""

    def cpu_time(self) -> tuple[float, float]:
        """See Group."""
        cpu = fields(read(self.directory, "cpu.stat"))
        return cpu["user_usec"] / 1e6, cpu["system_usec"] / 1e6

    def is_empty(self) -> bool:
        """See Group."""
        return fields(read(self.directory, "cgroup.events"))["populated"] == 0

    def remove(self, within: float = 1.0) -> bool:
        """See Group."""
        return discard(self.directory, within)

    def _kill_frozen(self, deadline: float) -> bool:
        from belljar.linux.cgroup import kill_all

        while not self.is_empty():
            write(self.directory, "cgroup.freeze", "1")
            kill_all(self.pids())  # a frozen process dies at once here, unlike in v1
            write(self.directory, "cgroup.freeze", "0")
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.0005)
        return True


class TreeV2:
    """`belljar/<keeper>` below a group that is ours to divide."""

    generation = 2

    def __init__(self, base: str, keeper: str, missing: tuple[str, ...]) -> None:
        self.place = f"{base}/belljar/{keeper}"
        self.missing = missing

    def make_group(self, name: str) -> GroupV2:
        """See Tree."""
        directory = f"{self.place}/{name}"
        os.mkdir(directory)
        return GroupV2(directory)

    def remove(self) -> bool:
        """See Tree. `belljar` itself goes with the last keeper."""
        gone = discard(self.place, 0.2)
        discard(os.path.dirname(self.place))
        return gone


def probe(keeper: str, root: str = "/", *, move: bool = False) -> TreeV2 | str:
    """See cgroup.probe: the nearest group, from our own one up, that is ours to divide and has the controllers."""
    root = root.rstrip("/")
    points = [
        (point.target, point.root)
        for point in parse_mountinfo(read(f"{root}/proc/self", "mountinfo"))
        if point.fstype == "cgroup2"
    ]
    place = own_places(root).get("")
    if not points or place is None:
        return "cgroup v2: not mounted"
    top, mounted = root + points[0][0], points[0][1]
    own = top + below(place, mounted)
    reasons = []
    base = own
    while True:
        reason = _ours(base, top, base == own and move)
        if reason is None:
            found = _found(base, keeper)
            if not isinstance(found, str):
                return found
            reason = found
        reasons.append(reason)
        if base == top:
            return f"cgroup v2: {reasons[0]}"
        base = os.path.dirname(base)


def _ours(base: str, top: str, move: bool) -> str | None:
    """None when groups that we make below `base` can have the controllers, and can be entered from where we are."""
    try:
        lacking = [name for name in _NEEDED if name not in read(base, "cgroup.controllers").split()]
    except OSError as error:
        return f"{base}: {error.strerror}"
    if lacking:
        return f"{base} has no controller {', '.join(lacking)}"
    if reason := can_make(base):
        return reason
    # Moving a process takes write access where it is, where it goes, and at their common ancestor.
    if not os.access(f"{base}/cgroup.procs", os.W_OK):
        return f"{base}/cgroup.procs: not writable"
    if base == top and not exists(base, "cgroup.type"):
        return None  # the real root: the rule of internal processes is not for it
    if all(name in read(base, "cgroup.subtree_control").split() for name in _NEEDED):
        return None
    if read(base, "cgroup.procs").strip():
        if not move:
            return f"{base} holds processes itself, so it cannot be divided"
        return _vacate(base)
    return None


def _vacate(base: str) -> str | None:
    """Move the processes of a group into a child of it, so that it can hand out its controllers."""
    rest = f"{base}/{_REST}"
    try:
        os.makedirs(rest, exist_ok=True)
        for _ in range(10):  # they may fork meanwhile
            pids = read(base, "cgroup.procs").split()
            if not pids:
                return None
            for pid in pids:
                try:
                    write(rest, "cgroup.procs", pid)
                except ProcessLookupError:
                    pass
    except OSError as error:
        return f"{base} holds processes that do not move: {error.strerror}"
    return f"{base} holds processes that fork faster than they can be moved"


def _found(base: str, keeper: str) -> TreeV2 | str:
    missing: list[str] = []
    levels = [base, f"{base}/belljar", f"{base}/belljar/{keeper}"]
    try:
        make(levels[2])
        for level in levels:
            missing += _hand_down(level)
    except OSError as error:
        discard(levels[2])
        discard(levels[1])
        return f"{error.filename or base}: {error.strerror}"
    if not _swap_counted(levels[2]):
        missing.append("swap: this kernel does not count it (CONFIG_MEMCG_SWAP, swapaccount=)")
    return TreeV2(base, keeper, tuple(dict.fromkeys(missing)))


def _hand_down(level: str) -> list[str]:
    """Let the groups below `level` have the controllers; what it lacks of the wanted ones."""
    has = read(level, "cgroup.controllers").split()
    on = read(level, "cgroup.subtree_control").split()
    for name in _WANTED:
        if name in has and name not in on:
            write(level, "cgroup.subtree_control", f"+{name}")
    return [f"{name}: not delegated to {level}" for name in _WANTED if name not in has]


def _swap_counted(directory: str) -> bool:
    return exists(directory, "memory.swap.max")
