"""Control groups, whichever generation is writable here: memory, processes and CPU of a cell, limited and measured.

    tree = probe()                  a reason (text) where there is none
    group = tree.make_group("a")    <own place>/belljar/<keeper>/a
    group.limit(memory=..., processes=..., cpu_quota=...); group.attach(pid)
    group.kill(); group.usage(); group.remove(); tree.remove()

A group outlives the process that made it: who may die without `remove` needs somebody who removes for it.
"""

import errno
import os
import signal
import time
from collections.abc import Iterable
from typing import NamedTuple, Protocol

MOST_PIDS = 4 << 20  # of the kernel: more is no limit to it, but an error
_BLOCK, _SHORT = 65536, 2048


class GroupUsage(NamedTuple):
    """What all processes of a group used together; None is "this kernel does not say"."""

    memory_peak: int | None
    processes_peak: int | None
    oom_kills: int
    process_refusals: int


class Group(Protocol):
    """The group of one cell."""

    def limit(
        self,
        *,
        memory: int | None = None,
        swap_off: bool = True,
        processes: int | None = None,
        cpu_quota: float | None = None,
    ) -> None:
        """Set limits; None leaves one as it is. `cpu_quota` is in CPUs, `processes` counts threads."""

    def attach(self, pid: int) -> None:
        """Move a process (all its threads) here, and read back that it is; its later children follow."""

    def pids(self) -> list[int]:
        """The processes that are here, as this process numbers them."""

    def kill(self, within: float = 5.0) -> bool:
        """Kill all that is here, and all that it forks meanwhile; whether nothing is left."""

    def usage(self) -> GroupUsage:
        """What was used since the group was made, by the living and the dead."""

    def count_cpu_time(self) -> None:
        """Count it from now on, where that is not done anyhow."""

    def cpu_time(self) -> tuple[float, float] | None:
        """Seconds of processor time of all that was ever here, in programs and in the kernel; None if not counted."""

    def is_empty(self) -> bool:
        """Whether no process is here."""

    def remove(self, within: float = 1.0) -> bool:
        """Remove the empty group; whether it is gone."""


class Tree(Protocol):
    """A place where groups can be made."""

    generation: int
    place: str
    """Where it is, for messages."""
    missing: tuple[str, ...]
    """What cannot be had here: "cpu", "swap" (swap accounting), "freezer", each with the reason."""

    def make_group(self, name: str) -> Group:
        """A new group without limits. FileExistsError when there is one of that name."""

    def remove(self) -> bool:
        """Remove what `probe` made; whether it is gone. Groups that are left keep it."""


def probe(keeper: str | None = None, root: str = "/", *, move: bool = False) -> Tree | str:
    """The tree for this process, proved by making a directory in it; a reason where there is none.

    `keeper` names the directory below `belljar`; by default it is random. `move` allows what v2 needs where this
    process owns just its own cgroup: moving the processes of that cgroup into a child of it, `belljar.rest`.
    """
    # Imported here since both know this module.
    from belljar.linux import cgroup_v1, cgroup_v2

    name = keeper or os.urandom(6).hex()
    unified = cgroup_v2.probe(name, root, move=move)
    if not isinstance(unified, str):
        return unified
    legacy = cgroup_v1.probe(name, root)
    return f"{unified}; {legacy}" if isinstance(legacy, str) else legacy


def read(directory: str, name: str) -> str:
    """A small file of a group."""
    fd = os.open(f"{directory}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while part := os.read(fd, _BLOCK):
            text += part
            if len(part) < _SHORT:
                break  # a file of this kernel's own that is not full of pages is read in one piece
        return text.decode()
    except OSError as error:
        _raise_as_gone(error, f"{directory}/{name}")
        raise
    finally:
        os.close(fd)


def write(directory: str, name: str, text: str) -> None:
    """Write a small file of a group, which must exist: in one write, as the kernel wants it."""
    path = f"{directory}/{name}"
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        _raise_as_gone(error, path)
        error.filename = path
        raise
    finally:
        os.close(fd)


def _raise_as_gone(error: OSError, path: str) -> None:
    """A group that is removed while one of its files is open answers with another errno than one that is not there."""
    if error.errno == errno.ENODEV:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error


def exists(directory: str, name: str) -> bool:
    """Whether this kernel has that file."""
    return os.access(f"{directory}/{name}", os.F_OK)


def fields(text: str) -> dict[str, int]:
    """The lines `key number` of a file."""
    return {key: int(value) for key, value in (line.split() for line in text.splitlines())}


def own_places(root: str) -> dict[str, str]:
    """Where this process is, by controller ("" for v2): the lines of /proc/self/cgroup."""
    found = {}
    for line in read(f"{root}/proc/self", "cgroup").splitlines():
        _, controllers, place = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = place
    return found


def below(place: str, mounted: str) -> str:
    """The path below a mount point for a place of the hierarchy, of which `mounted` is the part that is mounted.

    In a container without a cgroup namespace both are paths of the host; what is not below is taken as the top.
    """
    if mounted == "/":
        return "" if place == "/" or place.startswith("/..") else place
    return place[len(mounted) :] if place == mounted or place.startswith(mounted + "/") else ""


def can_make(directory: str) -> str | None:
    """None when a directory can be made there, or the reason: "mounted" and "present" do not mean writable."""
    probe = f"{directory}/belljar.probe.{os.getpid()}"
    try:
        os.mkdir(probe)
        os.rmdir(probe)
    except OSError as error:
        return f"{directory}: {error.strerror}"
    return None


def make(directory: str) -> None:
    """Make a directory of a tree, with its own parent, `belljar`, which another keeper may remove at the same time."""
    for last in (False, False, False, True):
        try:
            os.makedirs(directory, mode=0o755, exist_ok=True)
            return
        except FileNotFoundError:
            if last:
                raise


def discard(directory: str, within: float = 0.0) -> bool:
    """Remove a group's directory; whether it is gone. It stays busy for a moment after its last process ended."""
    deadline = time.monotonic() + within
    while True:
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.001)
        else:
            return True


def kill_all(pids: Iterable[int]) -> None:
    """SIGKILL to each, as far as it still lives and is ours."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def wait_empty(group: Group, deadline: float) -> bool:
    """Wait until no process is left, asking more and more rarely."""
    pause = 0.00005
    while not group.is_empty():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
    return True
