"""The control groups of the cells: made, filled and removed by the keeper; read and limited by the caller too."""

import hashlib
import os
import re

from belljar.linux import cgroup
from belljar.linux.cgroup import Group, Tree
from belljar.linux.cgroup_v1 import GroupV1, TreeV1
from belljar.linux.cgroup_v2 import GroupV2
from belljar.linux.processes import children, started
from belljar.zygote.protocol import Packet

# Each tree of the first generation costs a cell some 2 ms of waiting for the kernel: CPU time comes from wait4, and the
# pid namespace ends a cell, so that only the two that limit are joined.
_TREES = ("memory", "pids")
_NAME = re.compile("[0-9a-f]{16}")


class Groups:
    """A group for each living cell, where this host lets us make them."""

    def __init__(self, limits: Packet) -> None:
        found = cgroup.probe(_name_of(os.getpid()))
        self.reason = found if isinstance(found, str) else None
        self._tree: Tree | None = None if isinstance(found, str) else found
        self._limits = limits
        self._of: dict[str, Group] = {}
        if self._tree is not None:
            _sweep(self._tree)

    def enclose(self, cell: str, init: int) -> Packet | None:
        """Put the worker of an init into a new group with the limits of a parked cell; None without groups."""
        if self._tree is None:
            return None
        group = self._of[cell] = self._make(self._tree, cell)
        group.limit(**self._limits)
        for worker in children(init):
            try:
                group.attach(worker)
            except ProcessLookupError:
                return None  # it has just died, which its init will tell
        return describe(group)

    def _make(self, tree: Tree, cell: str) -> Group:
        return tree.make_group(cell, _TREES) if isinstance(tree, TreeV1) else tree.make_group(cell)

    def release(self, cell: str) -> None:
        """The cell is dead: so is its group."""
        group = self._of.pop(cell, None)
        if group is not None and not group.remove():
            group.kill()
            group.remove()

    def close(self) -> None:
        """Remove what is left."""
        for cell in list(self._of):
            self.release(cell)
        if self._tree is not None:
            self._tree.remove()


def _name_of(pid: int) -> str:
    """The name of a keeper's groups. The cell can read it, so it tells nothing; who lives can still be recognised."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
        return hashlib.sha256(f"{boot.read()} {pid} {started(pid)}".encode()).hexdigest()[:16]


def _sweep(tree: Tree) -> None:
    """Remove the groups of keepers that were killed before they could."""
    directories = tree.directories.values() if isinstance(tree, TreeV1) else [tree.place]
    parents = {os.path.dirname(directory) for directory in directories}
    there = {name for parent in parents for name in os.listdir(parent) if _NAME.fullmatch(name)}
    if len(there) < 2:  # our own
        return
    living = {_name_of(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    for name in there - living:
        for parent in parents:
            for below, _, _ in os.walk(f"{parent}/{name}", topdown=False):
                cgroup.discard(below)


def describe(group: Group) -> Packet:
    """A group as it is told to the caller."""
    if isinstance(group, GroupV1):
        return {"generation": 1, "directories": group.directories}
    assert isinstance(group, GroupV2)
    return {"generation": 2, "directory": group.directory}


def group_of(description: Packet) -> Group:
    """The group that was described."""
    if description["generation"] == 1:
        return GroupV1(description["directories"])
    return GroupV2(description["directory"])
