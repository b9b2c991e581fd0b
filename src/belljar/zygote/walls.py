"""The walls of one cell, built by its init from inside its own namespaces, before there is a worker."""

import os
import time

from belljar.guest.worker import STAT
from belljar.linux import mounts, namespaces
from belljar.linux.mounts import MountAttr, MountFlag, OpenTree
from belljar.linux.namespaces import Namespace
from belljar.linux.processes import look_in
from belljar.zygote.protocol import Packet
from belljar.zygote.stages import stage
from belljar.zygote.template import JAR, WRITABLE, interpreter_places

_INODES_OF_OURS = 16
# Of /proc, beside processes: torch and BLAS choose their kernels by cpuinfo, Node and ps need a stat.
_SHOWN = {"cpuinfo", "loadavg", "meminfo", "stat", "uptime", "version"}
_NOTHING_DONE = " 0" * 10
_COUNTERS = {
    "user/max_inotify_instances": 8,
    "user/max_inotify_watches": 4096,
    "user/max_fanotify_groups": 0,
    "user/max_fanotify_marks": 0,
    "user/max_user_namespaces": 0,
    "kernel/shmall": 16384,  # pages of System V segments, which no process needs to have mapped
}
_PLAIN = int(MountFlag.NOSUID | MountFlag.NODEV)
_PROC = int(_PLAIN | MountFlag.NOEXEC)
_PROC_READ_ONLY = int(_PROC | MountFlag.RDONLY)
_NAMESPACES = int(Namespace.USER | Namespace.MOUNT | Namespace.PID | Namespace.IPC)


def namespaces_of(settings: Packet) -> int:
    """The namespaces that a cell has for itself."""
    return _NAMESPACES if settings["network"] == "host" else _NAMESPACES | int(Namespace.NET)


def build(settings: Packet) -> None:
    """Mount what only this cell has, and bound what the kernel counts for others too."""
    with stage("counters"):
        _bound_counters()
    with stage("jar"):
        hidden = _open_hidden(settings["hidden"])
        mounts.mount("jar", JAR, "tmpfs", _PLAIN, size_option(settings["disk"], settings["files"]))
        in_place = {target for _, target, _ in settings["mounts"]}
        for name, place in WRITABLE.items():
            if place in in_place:
                continue
            os.mkdir(f"{JAR}/{name}", 0o755)
            if name != "workspace":
                os.chmod(f"{JAR}/{name}", 0o1777)
            mounts.bind(f"{JAR}/{name}", place)
        for place, tree in hidden:
            os.makedirs(place)
            mounts.move_mount(tree, place)
            os.close(tree)
    with stage("proc"):
        # One for the init, which has to see everything below it; over it the one that the code sees.
        mounts.mount("proc", "/proc", "proc", _PROC, "subset=pid")
        look_in(os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        # Read-only: oom_score_adj, say, can be lowered as far as the host's session happened to be allowed to.
        # The group of gid= sees all processes, and is root's by default. In here 0 is nobody's.
        mounts.mount("proc", "/proc", "proc", _PROC_READ_ONLY, "hidepid=2,gid=0")
        _mask_proc(settings["covers"])
    if settings["network"] == "none":
        with stage("loopback"):
            namespaces.loopback_up()


def look_at_proc(settings: Packet) -> dict[str, str]:
    """The names in /proc that are not processes, and how each is to be covered in a cell: see `_cover`."""
    with os.scandir("/proc") as entries:
        return {entry.name: _cover(entry, settings) for entry in entries if not entry.name.isdigit()}


def _cover(entry: os.DirEntry[str], settings: Packet) -> str:
    """What to put over it: a "file" or a "directory" that cannot be opened, or "nothing"."""
    if entry.name in _SHOWN or entry.is_symlink():
        return "nothing"
    if entry.is_dir():
        return "directory"
    others_are_root = not settings["rootful"] and settings["owner"][0] == 0
    return "file" if others_are_root or entry.stat().st_mode & 0o066 else "nothing"


def _mask_proc(covers: dict[str, str]) -> None:
    """Cover what tells of the host and no program needs. Only what is new since the zygote has looked is looked at.

    The covers are removed again when they stand where they are wanted.
    """
    places = {"file": f"{JAR}/none", "directory": f"{JAR}/nothing"}
    os.mkdir(places["directory"], 0)
    os.close(os.open(places["file"], os.O_CREAT | os.O_WRONLY, 0))
    for name in os.listdir("/proc"):
        cover = covers.get(name)
        if cover is None and not name.isdigit():
            cover = "directory" if os.path.isdir(f"/proc/{name}") else "file"
        if cover in places:
            mounts.bind(places[cover], f"/proc/{name}")
    os.unlink(places["file"])
    os.rmdir(places["directory"])
    _make_stat()


def _make_stat() -> None:
    """A /proc/stat that has the processors, which one may count there, and not what they do for others."""
    booted = int(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))
    lines = [f"cpu{number}{_NOTHING_DONE}\n" for number in ("", *range(len(os.sched_getaffinity(0))))]
    lines.append(f"intr 0\nctxt 0\nbtime {booted}\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n")
    path = f"{JAR}/{STAT}"
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    os.write(fd, "".join(lines).encode())
    os.close(fd)
    mounts.bind(path, "/proc/stat")
    mounts.mount_setattr(mounts.AT_FDCWD, "/proc/stat", add=MountAttr.RDONLY)


def _bound_counters() -> None:
    """The kernel counts some things by user, and through user namespaces up to the caller's: a cell gets a small share.

    This is the zygote's /proc, but /proc/sys/user belongs to the namespaces of the one who opens it.
    """
    for name, most in _COUNTERS.items():
        try:
            fd = os.open(f"/proc/sys/{name}", os.O_WRONLY | os.O_CLOEXEC)
            os.write(fd, b"%d" % most)
            os.close(fd)
        except FileNotFoundError:
            continue  # not in every kernel
        except PermissionError:
            if not name.startswith("kernel/"):  # the ipc ones can be set from inside since Linux 6.10 or so
                raise


def hidden_places() -> list[str]:
    """The interpreter, where it is in a place that a cell covers with its own."""
    covered = tuple(f"{place}/" for place in WRITABLE.values())
    return [place for place in interpreter_places() if place.startswith(covered)]


def _open_hidden(places: list[str]) -> list[tuple[str, int]]:
    return [(place, mounts.open_tree(place, OpenTree.CLONE | OpenTree.RECURSIVE)) for place in places]


def resize(disk: int, files: int) -> None:
    """Give the jar another size than it was parked with."""
    mounts.mount("jar", JAR, None, int(MountFlag.REMOUNT | _PLAIN), size_option(disk, files))


def size_option(disk: int, files: int) -> str:
    """The tmpfs options for these limits."""
    return f"size={disk},nr_inodes={files + _INODES_OF_OURS},mode=755"
