"""Control groups of the first generation: one tree for each controller, and the same directory in each of them.

Kernel memory (page tables, pipes, stacks ...) counts to memory.limit_in_bytes since Linux 4.5, buffers of TCP sockets
to memory.kmem.tcp only: the old memory.kmem.limit_in_bytes is not used (Linux 6 ignores it).
Making v1 directories writable for others than root is not safe, so this is for root.
"""

import errno
import os
import time
from collections.abc import Collection

from belljar.linux.cgroup import (
    MOST_PIDS,
    GroupUsage,
    below,
    can_make,
    discard,
    exists,
    fields,
    kill_all,
    make,
    own_places,
    read,
    wait_empty,
    write,
)
from belljar.linux.mounts import parse_mountinfo

_NEEDED = ("memory", "pids")
_WANTED = (*_NEEDED, "cpu", "cpuacct", "freezer")
_PERIOD = 100_000  # microseconds
_TICK = os.sysconf("SC_CLK_TCK")
_FROZEN_WITHIN = 0.05


class GroupV1:
    """The group of one cell: its directory in each tree. The ones of `late` are made when a limit needs them."""

    def __init__(self, directories: dict[str, str], late: dict[str, str] | None = None) -> None:
        self.directories = directories
        self.late = late or {}
        self.places = tuple(dict.fromkeys(directories.values()))  # cpu and cpuacct are often one tree

    def limit(
        self,
        *,
        memory: int | None = None,
        swap_off: bool = True,
        processes: int | None = None,
        cpu_quota: float | None = None,
    ) -> None:
        """See Group."""
        if memory is not None:
            self._limit_memory(self.directories["memory"], memory, swap_off)
        if processes is not None:
            write(self.directories["pids"], "pids.max", str(min(processes, MOST_PIDS)))
        if cpu_quota is not None:
            self._limit_cpu(max(1000, int(cpu_quota * _PERIOD)))

    def attach(self, pid: int) -> None:
        """See Group."""
        for place in self.places:
            write(place, "cgroup.procs", str(pid))
        for place in self.places:
            if pid not in _pids(place):
                raise OSError(errno.ESRCH, "the process is not in its group", place)

    def pids(self) -> list[int]:
        """See Group."""
        return list(dict.fromkeys(pid for place in self.places for pid in _pids(place)))

    def kill(self, within: float = 5.0) -> bool:
        """See Group. Frozen first where there is a freezer: then none forks, and none leaves its pid to others."""
        deadline = time.monotonic() + within
        freezer = self.directories.get("freezer")
        while pids := self.pids():
            if freezer:
                self._freeze(freezer)
                kill_all(self.pids())
                write(freezer, "freezer.state", "THAWED")  # a frozen process dies when it thaws
            else:
                kill_all(pids)
            if wait_empty(self, min(deadline, time.monotonic() + 0.1)):
                return True
            if time.monotonic() >= deadline:
                return False
        return True

    def usage(self) -> GroupUsage:
        """See Group. pids.peak is in newer kernels only."""
        memory, pids = self.directories["memory"], self.directories["pids"]
        return GroupUsage(
            memory_peak=int(read(memory, "memory.max_usage_in_bytes")),
            processes_peak=int(read(pids, "pids.peak")) if exists(pids, "pids.peak") else None,
            oom_kills=fields(read(memory, "memory.oom_control")).get("oom_kill", 0),
            process_refusals=fields(read(pids, "pids.events")).get("max", 0),
        )

    def count_cpu_time(self) -> None:
        """See Group."""
        self._join("cpuacct")

    def cpu_time(self) -> tuple[float, float] | None:
        """See Group."""
        here = self.directories.get("cpuacct") or self.late.get("cpuacct")
        if here is None or not os.path.isdir(here):
            return None
        if exists(here, "cpuacct.usage_sys"):
            return int(read(here, "cpuacct.usage_user")) / 1e9, int(read(here, "cpuacct.usage_sys")) / 1e9
        ticks = fields(read(here, "cpuacct.stat"))
        return ticks["user"] / _TICK, ticks["system"] / _TICK

    def is_empty(self) -> bool:
        """See Group."""
        return not any(read(place, "cgroup.procs") for place in self.places)

    def remove(self, within: float = 1.0) -> bool:
        """See Group."""
        deadline = time.monotonic() + within
        places = [*self.places, *self.late.values()]
        gone = [discard(place, deadline - time.monotonic()) for place in places]
        return all(gone)

    def _limit_cpu(self, quota: int) -> None:
        here = self._join("cpu")
        if here is not None:
            write(here, "cpu.cfs_period_us", str(_PERIOD))
            write(here, "cpu.cfs_quota_us", str(quota))

    def _join(self, controller: str) -> str | None:
        """Our directory in that tree, which one of `late` has from now on; None where there is no such tree."""
        here = self.directories.get(controller) or self.late.get(controller)
        if here is not None and here not in self.places and not os.path.isdir(here):
            os.mkdir(here)
            for pid in self.pids():
                write(here, "cgroup.procs", str(pid))
        return here

    def _limit_memory(self, here: str, memory: int, swap_off: bool) -> None:
        both = swap_off and exists(here, "memory.memsw.limit_in_bytes")
        if swap_off and not both:
            write(here, "memory.swappiness", "0")
        try:
            # The kernel wants memory <= memory and swap at every moment: downwards in this order,
            write(here, "memory.limit_in_bytes", str(memory))
        except OSError as error:
            if error.errno != errno.EINVAL or not both:
                raise
            # upwards in the other one.
            write(here, "memory.memsw.limit_in_bytes", str(memory))
            write(here, "memory.limit_in_bytes", str(memory))
        if both:
            write(here, "memory.memsw.limit_in_bytes", str(memory))

    def _freeze(self, freezer: str) -> None:
        """Freeze what can be frozen: a process in a long system call keeps the group in FREEZING, which is no harm."""
        write(freezer, "freezer.state", "FROZEN")
        deadline = time.monotonic() + _FROZEN_WITHIN
        while read(freezer, "freezer.state").strip() != "FROZEN" and time.monotonic() < deadline:
            time.sleep(0.00005)


class TreeV1:
    """`belljar/<keeper>` below our own place in each tree."""

    generation = 1

    def __init__(self, bases: dict[str, str], keeper: str, missing: tuple[str, ...]) -> None:
        self.directories = {name: f"{base}/belljar/{keeper}" for name, base in bases.items()}
        self.place = self.directories["memory"]
        self.missing = missing

    def make_group(self, name: str, controllers: Collection[str] | None = None) -> GroupV1:
        """See Tree. Joining a tree takes the kernel milliseconds: `controllers` names those that every cell joins."""
        wanted = self.directories.keys() if controllers is None else controllers
        places = {controller: f"{directory}/{name}" for controller, directory in self.directories.items()}
        late: dict[str, str] = {name: places[name] for name in ("cpu", "cpuacct") if name in places.keys() - wanted}
        group = GroupV1({controller: places[controller] for controller in wanted}, late)
        made: list[str] = []
        try:
            for place in group.places:
                os.mkdir(place)
                made.append(place)
        except OSError:
            for place in made:
                os.rmdir(place)
            raise
        return group

    def remove(self) -> bool:
        """See Tree. `belljar` itself goes with the last keeper."""
        gone = True
        for directory in dict.fromkeys(self.directories.values()):
            gone = discard(directory, 0.2) and gone
            discard(os.path.dirname(directory))
        return gone


def probe(keeper: str, root: str = "/") -> TreeV1 | str:
    """See cgroup.probe."""
    root = root.rstrip("/")
    bases, missing = _bases(root)
    if lacking := [missing[name] for name in _NEEDED if name in missing]:
        return f"cgroup v1: {'; '.join(lacking)}"
    tree = TreeV1(bases, keeper, ())
    try:
        for directory in tree.directories.values():
            make(directory)
    except OSError as error:
        tree.remove()
        return f"cgroup v1: {error.filename}: {error.strerror}"
    if not exists(tree.place, "memory.memsw.limit_in_bytes"):
        missing["swap"] = "swap: this kernel does not count it (CONFIG_MEMCG_SWAP, swapaccount=1)"
    tree.missing = tuple(missing.values())
    return tree


def _bases(root: str) -> tuple[dict[str, str], dict[str, str]]:
    """Our own place in each tree, and why there is none."""
    places = own_places(root)
    bases: dict[str, str] = {}
    missing: dict[str, str] = {}
    points = {
        option: (point.target, point.root)
        for point in parse_mountinfo(read(f"{root}/proc/self", "mountinfo"))
        if point.fstype == "cgroup"
        for option in point.super_options
    }
    for name in _WANTED:
        if name not in points or name not in places:
            missing[name] = f"{name}: not mounted"
            continue
        target, mounted = points[name]
        base = root + target + below(places[name], mounted)
        if reason := can_make(base):
            missing[name] = f"{name}: {reason}"
        else:
            bases[name] = base
    return bases, missing


def _pids(place: str) -> list[int]:
    return [int(line) for line in read(place, "cgroup.procs").split()]
