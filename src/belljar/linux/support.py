"""What this host gives, layer by layer: each one tried in a child that ends at once; the host stays as it is.

support = probe()                 never raises for what is missing; call it with one thread
level(support)                    "full", "rootless", "reduced" or "none"
explain("mounts: proc", 1)        why a step of a launch failed, and the cure; tries nothing
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

from belljar.linux import capabilities, cgroup, identity, landlock, mounts, namespaces, prctl, seccomp
from belljar.linux.libc import MACHINE
from belljar.linux.mounts import MountAttr, MountFlag, OpenTree, UmountFlag
from belljar.linux.namespaces import Namespace

LevelName = Literal["none", "reduced", "rootless", "full"]
Why = tuple[str, str]
"""A reason, and what cures it."""

# What each layer is needed for: every level with walls, one of them, or none: then it is advice.
LAYERS = {
    "kernel": "rootless",
    "machine": "any",
    "pidfd": "any",
    "user namespace": "rootless",
    "mount namespace": "rootless",
    "pid namespace": "rootless",
    "ipc namespace": "rootless",
    "uts namespace": "rootless",
    "cgroup namespace": "rootless",
    "net namespace": "rootless",
    "mounts": "rootless",
    "read-only binds": "rootless",
    "proc": "rootless",
    "root": "rootless",
    "user ids": "rootless",
    "cells": "rootless",
    "seccomp": "any",
    "landlock": "reduced",
    "control groups": "full",
    "cpu control": "",
    "swap accounting": "",
    "idmapped mounts": "",
    "page merging": "",
    "hyper-threads": "",
    "core dumps": "",
}
FIRST_USER, USERS, BLOCK = 1_900_000_000, 512 * 256, 256  # as zygote/users.py has them
_UID = 1000
# In the order in which they are tried: by what, and for a namespace its flag and the name of its sysctl.
_KINDS = {
    "mount namespace": (Namespace.MOUNT, "mnt"),
    "pid namespace": (Namespace.PID, "pid"),
    "ipc namespace": (Namespace.IPC, "ipc"),
    "uts namespace": (Namespace.UTS, "uts"),
    "cgroup namespace": (Namespace.CGROUP, "cgroup"),
    "net namespace": (Namespace.NET, "net"),
}
_TRIED = {
    "user namespace": "unshare",
    **dict.fromkeys(_KINDS, "unshare"),
    "mounts": "tmpfs",
    "read-only binds": "mount_setattr",
    "proc": "a new proc",
    "root": "pivot_root",
    "idmapped mounts": "mount_setattr",
    "user ids": "the caller's own",
    "cells": "namespaces inside of namespaces",
    "seccomp": f"the filter for {MACHINE}",
}
_OWN = Namespace.MOUNT | Namespace.PID | Namespace.IPC | Namespace.UTS | Namespace.CGROUP | Namespace.NET
_CELL = Namespace.USER | Namespace.MOUNT | Namespace.PID | Namespace.IPC | Namespace.NET
_PLAIN = MountFlag.NOSUID | MountFlag.NODEV
_KERNEL = (5, 12)


class Finding(NamedTuple):
    """One layer: whether it works, by what; or why not (with the errno, where there is one), and the cure."""

    layer: str
    works: bool
    by: str = ""
    reason: str = ""
    errno: int | None = None
    cure: str | None = None

    @property
    def state(self) -> Literal["ok", "missing", "note"]:
        """`note`: no level needs it."""
        return "ok" if self.works else "missing" if LAYERS[self.layer] else "note"


class Support(NamedTuple):
    """Every layer, in the order of LAYERS."""

    findings: tuple[Finding, ...]


def level(support: Support) -> LevelName:
    """The best level of which nothing is missing. A layer that is not in it counts as missing."""
    works = {found.layer for found in support.findings if found.works}
    has = {need: all(layer in works for layer, of in LAYERS.items() if of == need) for need in LAYERS.values()}
    if not has["any"]:
        return "none"
    if has["rootless"]:
        return "full" if has["full"] else "rootless"
    return "reduced" if has["reduced"] else "none"


def probe() -> Support:
    """Try everything, as the backend would do it for this user."""
    found = {finding.layer: finding for finding in (*_given(), *_walls(), *_groups(), *_advice())}
    return Support(tuple(found[layer] for layer in LAYERS))


def _given() -> Iterator[Finding]:
    release = os.uname().release
    numbers = tuple(int(part) for part in release.replace("-", ".").split(".")[:2] if part.isdigit())
    old = "mount_setattr came with Linux 5.12: without it nothing of the host can be shown read-only in one piece"
    yield _finding("kernel", numbers >= _KERNEL, f"Linux {release}", (old, "boot Linux 5.12 or newer"))
    known = MACHINE in ("x86_64", "aarch64") and sys.maxsize > 1 << 32
    bits = "64" if sys.maxsize > 1 << 32 else "32"
    unknown = (f"a {bits}-bit Python on {MACHINE}", "use a 64-bit Python on x86_64 or aarch64")
    yield _finding("machine", known, MACHINE, unknown)
    code = _failure(_try_pidfd)
    yield _finding("pidfd", code == 0, "pidfd_open, pidfd_send_signal", _why("pidfd", code), code)
    try:
        abi, code = landlock.abi(), errno.EOPNOTSUPP
    except OSError as error:
        abi, code = 0, error.errno or errno.ENOSYS
    yield _finding("landlock", abi > 0, f"ABI {abi}", _why("landlock", code), code)


def _walls() -> Iterator[Finding]:
    """What takes a child to try. After a step that failed the later ones of that child are not tried."""
    found = _in_child(_try_walls) | _in_child(_try_seccomp)
    broken = next((layer for layer in _TRIED if found.get(layer)), None)
    untried = (f"not tried: `{broken}` fails" if broken else "not tried: the child ended early", "cure that first")
    for layer, by in _TRIED.items():
        code = found.get(layer)
        if layer == "user ids" and os.geteuid() == 0:
            by = "a block that nobody has"
        yield _finding(layer, code == 0, by, _why(layer, code) if code else untried, code)


def _groups() -> Iterator[Finding]:
    handed = _handed_down()
    try:
        tree = cgroup.probe()
    except (OSError, ValueError) as error:
        tree = f"/proc/self cannot be read: {error}"
    if isinstance(tree, str):
        yield _finding("control groups", False, "", (tree, _group_cure(tree)))
        for layer in ("cpu control", "swap accounting"):
            yield _finding(layer, False, "", ("not tried: `control groups` fails", "cure that first"))
        return
    tree.remove()
    for directory, controllers in handed.items():
        added = _controllers(directory) - controllers
        with suppress(OSError):  # somebody else has begun to use them
            added and cgroup.write(directory, "cgroup.subtree_control", " ".join(f"-{name}" for name in added))
    yield _finding("control groups", True, f"cgroup v{tree.generation} at {os.path.dirname(tree.place)}")
    lacking = {text.partition(":")[0]: text for text in tree.missing}
    cpu = "systemctl set-property user@$UID.service Delegate='cpu memory pids', or run it as root"
    yield _finding("cpu control", "cpu" not in lacking, "cpu controller", (lacking.get("cpu", ""), cpu))
    swap = "boot with swapaccount=1, or swapoff -a"
    yield _finding("swap accounting", "swap" not in lacking, "memory controller", (lacking.get("swap", ""), swap))


def _advice() -> Iterator[Finding]:
    merging = "equal pages of programs that ask for it are merged, and timing tells who else has one"
    on = _text("/sys/kernel/mm/ksm/run") == "1"
    yield _finding("page merging", not on, "off", (merging, "echo 2 > /sys/kernel/mm/ksm/run"))
    shared = "two programs share a core, and each can watch the other through its caches"
    on = _text("/sys/devices/system/cpu/smt/active") == "1"
    cure = "echo off > /sys/devices/system/cpu/smt/control"
    yield _finding("hyper-threads", not on, "off", (shared, cure))
    pattern = _text("/proc/sys/kernel/core_pattern")
    piped = f"a crash of the code starts {pattern[1:].split(' ')[0]} as root on the host"
    yield _finding("core dumps", pattern[:1] != "|", "no program", (piped, "sysctl -w kernel.core_pattern=core"))


def _finding(layer: str, works: bool, by: str, why: Why = ("", ""), code: int | None = None) -> Finding:
    return Finding(layer, True, by) if works else Finding(layer, False, "", why[0], code or None, why[1])


# The children


Say = Callable[[str, int], object]


class _Stop(Exception):
    pass


def _in_child(work: Callable[[Say], None]) -> dict[str, int]:
    """The errno of each step, 0 where it went well."""
    said, says = os.pipe()
    found: dict[str, int] = {}
    try:
        pid = os.fork()
    except OSError:
        pid = -1
    if pid == 0:
        try:
            prctl.die_with_parent(signal.SIGKILL)
            work(lambda layer, code: os.write(says, f"{layer}\t{code}\n".encode()))
        finally:
            os._exit(0)
    os.close(says)
    with os.fdopen(said, encoding="ascii") as lines:
        for line in lines:
            layer, code = line.split("\t")
            found[layer] = found.get(layer) or int(code)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    return found


@contextmanager
def _step(say: Say, layer: str) -> Iterator[None]:
    code = 0
    try:
        yield
    except OSError as error:
        code = error.errno or errno.EIO
    say(layer, code)
    if code:
        raise _Stop


def _try_walls(say: Say) -> None:
    root, uid, gid = os.geteuid() == 0, os.geteuid(), os.getegid()
    kinds = {layer: flag for layer, (flag, _) in _KINDS.items()}
    if not root:
        kinds = {"user namespace": Namespace.USER, **kinds}
    if _failure(lambda: namespaces.unshare(_OWN if root else _OWN | Namespace.USER)) == 0:
        for layer in kinds:
            say(layer, 0)
    else:  # one by one, to see which it is
        for layer, flag in kinds.items():
            code = _failure(lambda flag=flag: namespaces.unshare(flag))  # type: ignore[misc]
            say(layer, code)
            if code and layer in ("user namespace", "mount namespace", "pid namespace"):
                return
    if not root:
        with _step(say, "user namespace"):
            namespaces.write_maps("self", [(_UID, uid, 1)], [(_UID, gid, 1)], deny_setgroups=True)
            say("user ids", 0)
    asked, ask = os.pipe()
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        _inside(say, root, ask, told)
        return
    os.close(ask)
    if os.read(asked, 1):
        with _step(say, "user ids"):
            users = [(_UID, _free_block(), BLOCK)]
            namespaces.write_maps(pid, users, users)
            os.write(tell, b"1")
    os.close(tell)
    os.waitpid(pid, 0)


def _inside(say: Say, root: bool, ask: int, told: int) -> None:
    """Process 1 of the new pid namespace: a root as the template has it, then a cell in it."""
    prctl.die_with_parent(signal.SIGKILL)
    with _step(say, "mounts"):
        mounts.make_private("/")
        place = next(place for place in ("/tmp", "/var", "/") if os.path.isdir(place))
        mounts.mount("belljar", place, "tmpfs", _PLAIN, "size=1m,mode=755")
        os.chdir(place)
        for name in ("usr", "proc", "tmp"):
            os.mkdir(name)
    with _step(say, "read-only binds"):
        tree = mounts.open_tree("/usr", OpenTree.CLONE | OpenTree.RECURSIVE)
        mounts.mount_setattr(tree, add=MountAttr.RDONLY | MountAttr.NOSUID | MountAttr.NODEV, recursive=True)
        mounts.move_mount(tree, "usr")
    with _step(say, "proc"):
        mounts.mount("proc", "proc", "proc", _PLAIN | MountFlag.NOEXEC)
    with _step(say, "root"):
        mounts.pivot_root(".", ".")
        mounts.umount(".", UmountFlag.DETACH)
        os.chdir("/")
    say("idmapped mounts", _failure(_try_idmap))
    if root:
        with _step(say, "user namespace"):
            os.setgroups([])
            namespaces.unshare(Namespace.USER)
        os.write(ask, b"1")
        if not os.read(told, 1):
            return
        with _step(say, "user ids"):
            identity.become(_UID, _UID)
    with _step(say, "cells"):
        prctl.set_dumpable(True)  # the maps of a process that is not belong to the root of the host
        pid = namespaces.fork_into(_CELL)
        if pid == 0:
            _cell(told)
        namespaces.write_maps(pid, [(_UID, _UID, 1)], [(_UID, _UID, 1)], deny_setgroups=True)
        os.kill(pid, signal.SIGCONT)
        if code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
            raise OSError(code, "in the cell")
