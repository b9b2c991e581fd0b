"""The control groups of the cells: made, filled and removed by the keeper; read and limited by the caller too."""

import fcntl
import os
import re

from belljar.linux import cgroup
from belljar.linux.cgroup import Group, Tree
from belljar.linux.cgroup_v1 import GroupV1, TreeV1
from belljar.linux.cgroup_v2 import GroupV2
from belljar.linux.processes import children
from belljar.zygote.protocol import Packet

# Each tree of the first generation costs a cell some 2 ms of waiting for the kernel: CPU time comes from wait4, and the
# pid namespace ends a cell, so that only the two that limit are joined. That of the processors is for runs that ask.
_TREES = ("memory", "pids")
_NAME = re.compile("[0-9a-f]{16}")


class Groups:
    """A group for each living cell, where this host lets us make them."""

    def __init__(self, limits: Packet) -> None:
        found = cgroup.probe(_name())
        while not isinstance(found, str) and not _held(found):
            found = cgroup.probe(_name())
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
        has_quota = not any(missing.startswith("cpu:") for missing in self._tree.missing)
        return {**describe(group), "quota": has_quota}

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


def _name() -> str:
    """The name of a keeper's groups. The cell can read it, so it tells nothing."""
    return os.urandom(8).hex()


def _directories(tree: Tree) -> list[str]:
    return list(dict.fromkeys(tree.directories.values())) if isinstance(tree, TreeV1) else [tree.place]


def _held(tree: Tree) -> bool:
    """Lock it for as long as we live; False when somebody who sweeps has been faster.

    A lock is seen from other pid namespaces too, where our pid says nothing.
    """
    locks: list[int] = []
    try:
        for directory in _directories(tree):
            fd = _lock(directory)
            if fd is None:
                raise FileNotFoundError(directory)  # it is being removed
            locks.append(fd)
            os.stat(directory)
    except FileNotFoundError:
        for fd in locks:
            os.close(fd)
        return False
    return True


def _lock(directory: str) -> int | None:
    """A descriptor that holds the lock until all of its copies are closed; None when another has it."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def _sweep(tree: Tree) -> None:
    """Remove the groups of keepers that were killed before they could."""
    for parent in {os.path.dirname(directory) for directory in _directories(tree)}:
        for name in filter(_NAME.fullmatch, os.listdir(parent)):
            try:
                fd = _lock(f"{parent}/{name}")
            except FileNotFoundError:
                continue  # another keeper was faster
            if fd is None:
                continue
            for below, _, _ in os.walk(f"{parent}/{name}", topdown=False):
                cgroup.discard(below)
            os.close(fd)


def describe(group: Group) -> Packet:
    """A group as it is told to the caller."""
    if isinstance(group, GroupV1):
        return {"generation": 1, "directories": group.directories, "late": group.late}
    assert isinstance(group, GroupV2)
    return {"generation": 2, "directory": group.directory}


def group_of(description: Packet) -> Group:
    """The group that was described."""
    if description["generation"] == 1:
        return GroupV1(description["directories"], description["late"])
    return GroupV2(description["directory"])
