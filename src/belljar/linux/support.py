"""What this host gives, layer by layer: tried in children that end at once; the host stays as it is.

level(probe())                    "full", "rootless", "reduced" or "none"; raises nothing for what is missing
explain("mounts: proc", 1)        why a step of a launch failed, and the cure; tries nothing
"""

import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

from belljar.linux import capabilities, cgroup, landlock, mounts, namespaces, prctl, seccomp, userids
from belljar.linux.capabilities import Capability
from belljar.linux.libc import MACHINE
from belljar.linux.mounts import MountAttr, MountFlag, OpenTree, UmountFlag
from belljar.linux.namespaces import Namespace

LevelName = Literal["none", "reduced", "rootless", "full"]
Why = tuple[str, str]  # a reason, and what cures it
Say = Callable[[str, int], object]

_OWN = Namespace.MOUNT | Namespace.PID | Namespace.IPC | Namespace.UTS | Namespace.CGROUP | Namespace.NET
_KINDS = {f"{str(kind.name).lower()} namespace": kind for kind in _OWN}
_TRIED = {  # what takes a child to try, in the order of a launch, and by what it works
    "user namespace": "unshare, id maps",
    **dict.fromkeys(_KINDS, "unshare"),
    "mounts": "tmpfs",
    "read-only binds": "mount_setattr",
    "proc": "a new proc",
    "own root": "pivot_root",
    "cells": "namespaces inside of those",
    "seccomp": f"the filter for {MACHINE}",
}
NEEDS: dict[str, tuple[str, ...]] = {
    "every level": ("machine", "pidfd", "seccomp"),
    "rootless": ("kernel", *(layer for layer in _TRIED if layer != "seccomp"), "user ids"),
    "reduced": ("landlock",),
    "full": ("control groups",),
    "advice": ("cpu control", "swap accounting", "idmapped mounts", "page merging", "hyper-threads", "core dumps"),
}
LAYERS = tuple(layer for layers in NEEDS.values() for layer in layers)
_UID = 1000
_PLAIN = MountFlag.NOSUID | MountFlag.NODEV
# Layer; file; how it begins where that holds; reason; cure.
_ADVICE = """
page merging; /sys/kernel/mm/ksm/run; 1; timing tells who has an equal page; echo 2 > /sys/kernel/mm/ksm/run
hyper-threads; /sys/devices/system/cpu/smt/active; 1; programs on a core see each other's traces; boot with nosmt
core dumps; /proc/sys/kernel/core_pattern; |; a crash starts a program as root; sysctl -w kernel.core_pattern=core
"""
# Layer: the stages of a launch (zygote/) that need it.
_STAGES = {
    "mount namespace": "namespaces, cgroup namespace",
    "user namespace": "user namespace, maps, identity",
    "mounts": "mounts: private, mounts: root, mounts: places, jar",
    "read-only binds": "mounts: system, mounts: interpreter, mounts: etc, mounts: dev, mounts: null, mounts: read-only",
    "proc": "mounts: proc, proc",
    "own root": "mounts: pivot",
    "uts namespace": "hostname",
    "net namespace": "loopback",
    "seccomp": "seccomp, keyring",
    "landlock": "landlock",
    "user ids": "users",
}
_PROFILE = """as root, write this to /etc/apparmor.d/belljar, then: apparmor_parser -r /etc/apparmor.d/belljar
abi <abi/4.0>,
include <tunables/global>
profile belljar "{}" flags=(unconfined) {{
  userns,
}}"""
_CONTAINER = (
    "docker run {}--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined (podman: unmask=ALL; Kubernetes: procMount: Unmasked)"
)


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
        return "ok" if self.works else "note" if self.layer in NEEDS["advice"] else "missing"


class Support(NamedTuple):
    """Every layer, in the order of LAYERS."""

    findings: tuple[Finding, ...]


def level(support: Support) -> LevelName:
    """The best level of which nothing is missing. A layer that is not in it counts as missing."""
    works = {found.layer for found in support.findings if found.works}
    has = {need: works.issuperset(layers) for need, layers in NEEDS.items()}
    if not has["every level"]:
        return "none"
    if has["rootless"]:
        return "full" if has["full"] else "rootless"
    return "reduced" if has["reduced"] else "none"


def probe() -> Support:
    """Try everything, as the backend would do it for this user."""
    found = {finding.layer: finding for finding in (*_given(), *_walls(), _user_ids(), *_groups(), *_advice())}
    return Support(tuple(found[layer] for layer in LAYERS))


def explain(stage: str, code: int | None) -> tuple[str, str | None]:
    """Why a step of a launch (zygote/stages.py) failed, as a sentence without a full stop, and the cure."""
    first = "namespaces" if userids.can_be_given() else "maps"  # else a user namespace comes before the others
    known = first if stage == "namespaces" else stage
    for layer, stages in _STAGES.items():
        if code and known in stages.split(", "):
            return _why(layer, code)
    return "this step of the launch failed", None if stage.startswith(("preload", "mounts: ")) else "belljar doctor"


def _finding(layer: str, works: bool, by: str, why: Why = ("", ""), code: int | None = None) -> Finding:
    return Finding(layer, True, by) if works else Finding(layer, False, "", why[0], code or None, why[1])


def _text(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip()
    return ""


def _given() -> Iterator[Finding]:
    release = os.uname().release
    version = tuple(int(part) for part in release.replace("-", ".").split(".")[:2] if part.isdigit())
    old = "mount_setattr came with Linux 5.12: without it the host's files cannot be shown read-only"
    yield _finding("kernel", version >= (5, 12), f"Linux {release}", (old, "boot Linux 5.12 or newer"))
    mapped = ("a tmpfs takes id maps from Linux 6.3 on, for mounts of a policy", "boot Linux 6.3 or newer")
    yield _finding("idmapped mounts", version >= (6, 3), "tmpfs too", mapped)
    bits = 64 if sys.maxsize > 1 << 32 else 32
    unknown = (f"this is a {bits}-bit Python on {MACHINE}", "use a 64-bit Python on x86_64 or aarch64")
    yield _finding("machine", MACHINE in ("x86_64", "aarch64") and bits == 64, MACHINE, unknown)
    code = _failure(lambda: os.close(os.pidfd_open(os.getpid())))
    yield _finding("pidfd", code == 0, "pidfd_open", _why("pidfd", code), code)
    abi, code = 0, errno.EOPNOTSUPP
    try:
        abi = landlock.abi()
    except OSError as error:
        code = error.errno or code
    yield _finding("landlock", abi > 0, f"ABI {abi}", _why("landlock", code), code)


def _walls() -> Iterator[Finding]:
    found = _in_child(_try_walls) | _in_child(_try_seccomp)
    broken = next((layer for layer in _TRIED if found.get(layer)), None)
    untried = (f"not tried, since `{broken}` fails" if broken else "not tried: there was no child", "cure that first")
    for layer, by in _TRIED.items():
        code = found.get(layer)
        yield _finding(layer, code == 0, by, _why(layer, code) if code else untried, code)


def _user_ids() -> Finding:
    """Root gives each cell a user of its own, of a block that nobody else has."""
    if not userids.can_be_given():
        return Finding("user ids", True, "the caller's own")
    base = next(userids.blocks(), None)
    if base is None:
        why = (f"every block from {userids.FIRST} on has users of this host", "move those users to other ids")
        return _finding("user ids", False, "", why, errno.EUSERS)
    return Finding("user ids", True, f"{base} to {base + userids.BLOCK - 1}")


def _groups() -> Iterator[Finding]:
    handed = _handed_down()
    try:
        tree = cgroup.probe()
    except (OSError, ValueError) as error:
        tree = f"/proc/self does not tell: {error}"
    cpu = "run it as root, or: systemctl edit user@.service, with [Service] Delegate=cpu memory pids"
    swap = "boot with swapaccount=1, or swapoff -a"
    if isinstance(tree, str):
        yield _finding("control groups", False, "", (tree, _group_cure(tree)))
        lacking = dict.fromkeys(("cpu", "swap"), "not tried, since `control groups` fails")
        cpu = swap = "cure that first"
    else:
        tree.remove()
        yield _finding("control groups", True, f"cgroup v{tree.generation}, {os.path.dirname(tree.place)}")
        lacking = {text.partition(":")[0]: text for text in tree.missing}
    for directory, controllers in handed.items():
        if added := _handed(directory) - controllers:
            with suppress(OSError):  # somebody else has begun to use them
                cgroup.write(directory, "cgroup.subtree_control", " ".join(f"-{name}" for name in added))
    yield _finding("cpu control", "cpu" not in lacking, "cgroup", (lacking.get("cpu", ""), cpu))
    yield _finding("swap accounting", "swap" not in lacking, "cgroup", (lacking.get("swap", ""), swap))


def _group_cure(reason: str) -> str:
    if "holds processes itself" in reason:
        base = reason.partition(" holds")[0].rpartition(" ")[2]
        return (
            f"mkdir {base}/rest; for pid in $(cat {base}/cgroup.procs); do echo $pid > {base}/rest/cgroup.procs; done"
        )
    user = os.geteuid()
    if user and os.path.isdir("/sys/fs/cgroup/memory"):
        return "run it as root, or boot with cgroup v2 alone: systemd.unified_cgroup_hierarchy=1"
    if user and os.path.exists(f"/run/user/{user}/systemd/private"):
        return "systemd-run --user --scope -p Delegate=yes COMMAND"
    if user and os.path.exists("/run/systemd/system"):
        return f"as root: systemd-run --uid={user} -p Delegate=yes -t COMMAND"
    return "run it as root; in a container: docker run --privileged, or -v /sys/fs/cgroup:/sys/fs/cgroup:rw"


def _handed_down() -> dict[str, set[str]]:
    """What the v2 groups above us give to those below them: the probe adds to it, and it is to stay as it is."""
    with suppress(OSError, ValueError):
        place = cgroup.own_places("").get("")
        for point in mounts.mountinfo():
            if point.fstype == "cgroup2" and place is not None:
                parts = cgroup.below(place, point.root).strip("/").split("/")
                ours = ["/".join((point.target, *parts[:depth])) for depth in range(len(parts) + 1)]
                return {directory: _handed(directory) for directory in ours}
    return {}


def _handed(directory: str) -> set[str]:
    return set(_text(f"{directory}/cgroup.subtree_control").split())


def _advice() -> Iterator[Finding]:
    for layer, path, bad, reason, cure in (line.split("; ") for line in _ADVICE.strip().splitlines()):
        text = _text(path)
        yield _finding(layer, not text.startswith(bad), "off" if text else "not to be seen here", (reason, cure))


# The children


class _Stop(Exception):  # noqa: N818
    pass


def _in_child(work: Callable[[Say], None]) -> dict[str, int]:
    """The errno of each step, 0 where it went well."""
    said, says = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        pid = -1
    if pid == 0:
        try:
            prctl.die_with_parent(signal.SIGKILL)
            work(lambda layer, code: os.write(says, f"{layer}\t{code}\n".encode()))
        finally:
            os._exit(0)  # what went wrong was said, or is to be seen from what was not
    os.close(says)
    found: dict[str, int] = {}
    with os.fdopen(said, encoding="utf-8") as lines:
        for layer, code in (line.split("\t") for line in lines):
            found[layer] = found.get(layer) or int(code)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0) if pid > 0 else None
    return found


@contextmanager
def _step(say: Say, layer: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        say(layer, error.errno or errno.EIO)
        raise _Stop from error
    say(layer, 0)


def _failure(try_it: Callable[[], object]) -> int:
    try:
        try_it()
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def _try_seccomp(say: Say) -> None:
    with _step(say, "seccomp"):
        prctl.no_new_privs()
        seccomp.install(seccomp.load("cell"))


def _try_walls(say: Say) -> None:
    """What a launch does, with one user: its namespace comes first or, for a real root, when the root is made."""
    ids, root = (os.geteuid(), os.getegid()), userids.can_be_given()
    kinds = _KINDS if root else {"user namespace": Namespace.USER, **_KINDS}
    together = _failure(lambda: namespaces.unshare(_OWN if root else _OWN | Namespace.USER))
    for layer, kind in kinds.items():
        code = together and _failure(lambda kind=kind: namespaces.unshare(kind))  # type: ignore[misc]
        say(layer, code)
        if code and layer in ("user namespace", "mount namespace", "pid namespace"):
            return  # never mount where others see it
    if not root:
        _map_self(say, ids)
    if pid := os.fork():
        os.waitpid(pid, 0)
        return
    _make_root(say)
    if root:
        with _step(say, "user namespace"):
            namespaces.unshare(Namespace.USER)
        _map_self(say, ids)
    with _step(say, "cells"):
        namespaces.unshare(Namespace.USER | Namespace.MOUNT | Namespace.PID | Namespace.IPC | Namespace.NET)


def _map_self(say: Say, ids: tuple[int, int]) -> None:
    with _step(say, "user namespace"):
        users, groups = ([(_UID, own, 1)] for own in ids)
        namespaces.write_maps("self", users, groups, deny_setgroups=True)


def _make_root(say: Say) -> None:
    with _step(say, "mounts"):
        mounts.make_private("/")
        place = next(place for place in ("/tmp", "/var", "/usr", "/") if os.path.isdir(place))
        mounts.mount("belljar", place, "tmpfs", _PLAIN, "size=1m,mode=755")
        os.chdir(place)
        os.mkdir("bin")
        os.mkdir("proc")
    with _step(say, "read-only binds"):
        tree = mounts.open_tree("/usr" if os.path.isdir("/usr") else "/", OpenTree.CLONE | OpenTree.RECURSIVE)
        mounts.mount_setattr(tree, add=MountAttr.RDONLY | MountAttr.NOSUID | MountAttr.NODEV, recursive=True)
        mounts.move_mount(tree, "bin")
    with _step(say, "proc"):
        mounts.mount("proc", "proc", "proc", _PLAIN | MountFlag.NOEXEC)
    with _step(say, "own root"):
        mounts.pivot_root(".", ".")
        mounts.umount(".", UmountFlag.DETACH)
        os.chdir("/")


# Reasons and cures


def _why(layer: str, code: int) -> Why:
    kind = layer.split()[0]
    root, spaces = os.geteuid() == 0, layer.endswith(" namespace") or layer == "cells"
    if spaces and code in (errno.ENOSPC, errno.EUSERS):
        most = f"max_{ {'cells': 'user', 'mount': 'mnt'}.get(kind, kind) }_namespaces"
        now = int(_text(f"/proc/sys/user/{most}") or 0)
        return f"no more is left of user.{most}, {now}", f"sysctl -w user.{most}={max(15000, 2 * now)}"
    if layer == "landlock":
        modules = _text("/sys/kernel/security/lsm") or "..."
        return "this kernel has none, or it is off", f"boot Linux 5.13 or newer, with lsm=landlock,{modules}"
    if layer == "seccomp" and code == errno.ENOENT:
        return f"there is no filter for {MACHINE}", "use x86_64 or aarch64"
    if code == errno.ENOENT and layer in ("user namespace", "cells"):
        return "/proc is not mounted", "mount -t proc proc /proc"
    if layer == "own root" and code == errno.EINVAL:
        return "the root is an initramfs, which cannot be exchanged", "switch_root to a disk or a tmpfs"
    if code == errno.EINVAL and (spaces or layer == "seccomp"):
        option = "SECCOMP_FILTER" if layer == "seccomp" else f"{'USER' if kind == 'cells' else kind.upper()}_NS"
        return "this kernel is built without it", f"boot a kernel with CONFIG_{option}=y"
    if code not in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        return os.strerror(code).lower(), "strace -f belljar doctor"
    return _refused(layer, root, code)


def _refused(layer: str, root: bool, code: int) -> Why:
    """Who has said no: the kernel tells only that somebody did."""
    container = _CONTAINER.format("--cap-add SYS_ADMIN " if root else "")
    if layer == "user namespace" and not root and _text("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "kernel.unprivileged_userns_clone is 0", "sysctl -w kernel.unprivileged_userns_clone=1"
    places = [line.split()[4] for line in _text("/proc/self/mountinfo").splitlines()]
    if layer == "proc" and (hidden := [place for place in places if re.match("/proc/(?!sys/fs/binfmt)", place)]):
        return f"a part of /proc is hidden here: {hidden[0]}", container
    restricted = _text("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1"
    if restricted and not root and _text("/proc/self/attr/current") in ("", "unconfined"):
        python = os.path.realpath(sys.executable)
        return "AppArmor keeps it from programs without a profile", _PROFILE.format(python)
    if "\nSeccomp:\t2" in _text("/proc/self/status"):
        return "a seccomp filter refuses it, as in containers and cells", container
    if code == errno.ENOSYS:
        return "this kernel does not know the call", "boot Linux 5.12 or newer"
    if root and layer == "user namespace" and not capabilities.held().effective & 1 << Capability.SETFCAP:
        return "to map this root takes CAP_SETFCAP", "run it as an ordinary user; in a container: --cap-add SETFCAP"
    if root and not capabilities.held().effective & 1 << Capability.SYS_ADMIN:
        return "this root has no CAP_SYS_ADMIN", container
    if places and "/" not in places:
        return "this is a chroot", "run it outside of the chroot"
    return "this host refuses it", f"see who in `journalctl -k`, by the word denied; in a container: {container}"
