"""The template: the read-only root that the zygote lives in, and every cell after it.

It is a small tmpfs with the least of the host bound into it, read-only: the system's programs and libraries, the
interpreter, a few files of /etc; all else in /etc is made here. The writable places are empty directories on which each
cell mounts its own.
"""

import glob
import os
import sys

from belljar.linux import idmap, mounts, namespaces
from belljar.linux.mounts import MountAttr, MountFlag, OpenTree, UmountFlag
from belljar.linux.namespaces import Namespace
from belljar.zygote.protocol import Packet
from belljar.zygote.stages import stage

JAR = "/jar"  # the tmpfs of a cell; the other writable places are directories of it, so that one size counts for all
WORKSPACE = "/workspace"
WRITABLE = {"workspace": WORKSPACE, "tmp": "/tmp", "shm": "/dev/shm"}
UID = 1000

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC_BOUND = (
    "alternatives",
    "fonts",
    "java-*-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "mime.types",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SIZE = "size=4m,nr_inodes=4096,mode=755"
_READ_ONLY = MountAttr.RDONLY | MountAttr.NOSUID | MountAttr.NODEV


def namespaces_of(settings: Packet) -> Namespace:
    """The namespaces of the zygote. Root takes its user namespace later, when the template stands."""
    own = Namespace.MOUNT | Namespace.PID | Namespace.IPC | Namespace.UTS | Namespace.CGROUP
    if settings["network"] == "none":
        own |= Namespace.NET
    return own if settings["rootful"] else own | Namespace.USER


def build(settings: Packet, mountpoint: str) -> None:
    """Make the root on `mountpoint` and move into it; this process must have a mount namespace of its own."""
    with stage("mounts: private"):
        mounts.make_private("/")
    with stage("mounts: root"):
        mounts.mount("belljar", mountpoint, "tmpfs", MountFlag.NOSUID | MountFlag.NODEV, _SIZE)
        os.chdir(mountpoint)
        os.umask(0o022)
    with stage("mounts: places"):
        for place in (JAR, WORKSPACE, "/tmp"):
            os.makedirs(place[1:], exist_ok=True)
        # Modules that are preloaded may write caches; every cell covers it by its own.
        mounts.mount("tmp", "tmp", "tmpfs", MountFlag.NOSUID | MountFlag.NODEV, "size=64m,mode=1777")
    with stage("mounts: system"):
        _bind_system()
    with stage("mounts: interpreter"):
        for place in interpreter_places():
            bind_read_only(place, place)
    with stage("mounts: etc"):
        _make_etc(settings)
    with stage("mounts: of the policy"):
        trees = [_open_of_policy(*mount) for mount in settings["mounts"]]
    with stage("mounts: dev"):
        _make_dev()
    with stage("mounts: proc"):
        os.mkdir("proc")
        mounts.mount("proc", "proc", "proc", MountFlag.NOSUID | MountFlag.NODEV | MountFlag.NOEXEC)
    with stage("mounts: pivot"):
        mounts.pivot_root(".", ".")
        mounts.umount(".", UmountFlag.DETACH)
        os.chdir("/")
    for tree, (source, target, mode) in zip(trees, settings["mounts"], strict=True):
        with stage(f"mounts: {source}"):
            _attach_of_policy(settings, tree, target, mode)
    with stage("mounts: null"):
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)  # the host's own cannot be opened again through /proc/self/fd
        os.close(null)
    with stage("mounts: read-only"):
        mounts.mount_setattr(mounts.AT_FDCWD, "/", add=MountAttr.RDONLY)
    with stage("hostname"):
        namespaces.set_hostname(settings["hostname"])


def interpreter_places() -> list[str]:
    """The directories that this interpreter needs and that are not part of the system: none inside another."""
    wanted = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    wanted |= {os.path.realpath(place) for place in wanted}
    places: list[str] = []
    for place in sorted(wanted):
        covered = [*SYSTEM, *places]
        if place != "/" and not any(place == other or place.startswith(other + "/") for other in covered):
            places.append(place)
    return places


def bind_read_only(source: str, target: str) -> None:
    """Show `source` of the host, with all that is mounted below it, at `target` of the root that is being made."""
    _bind(source, _mountpoint(source, target), _READ_ONLY)


def _open_of_policy(source: str, target: str, mode: str) -> int:  # noqa: ARG001
    """What the policy wants seen, while the host's files are still in sight."""
    _mountpoint(source, target)
    return mounts.open_tree(source, OpenTree.CLONE | OpenTree.RECURSIVE)


def _attach_of_policy(settings: Packet, tree: int, target: str, mode: str) -> None:
    """For root, the owner of the source becomes the user of the cells, which have just one then.

    That takes a user namespace, whose maps are written through our own /proc: so after the move into the new root.
    """
    attributes = MountAttr.NOSUID | MountAttr.NODEV | (MountAttr.RDONLY if mode == "ro" else 0)
    mounts.mount_setattr(tree, add=attributes, recursive=True)
    if settings["rootful"]:
        owner, base = os.fstat(tree), settings["base"]
        users = idmap.userns_fd([(owner.st_uid, base, 1)], [(owner.st_gid, base, 1)])
        mounts.mount_setattr(tree, add=MountAttr.IDMAP, userns_fd=users)
        os.close(users)
    mounts.move_mount(tree, target)
    os.close(tree)


def _mountpoint(source: str, target: str) -> str:
    below = target.lstrip("/")
    if os.path.isdir(source):
        os.makedirs(below, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(below), exist_ok=True)
        os.close(os.open(below, os.O_CREAT | os.O_WRONLY, 0o644))
    return below


def _bind(source: str, target: str, attributes: MountAttr) -> None:
    """By descriptor: nobody can put a link in the way between the look and the mount."""
    tree = mounts.open_tree(source, OpenTree.CLONE | OpenTree.RECURSIVE)
    try:
        mounts.mount_setattr(tree, add=attributes, recursive=True)
        mounts.move_mount(tree, target)
    finally:
        os.close(tree)


def _bind_system() -> None:
    for place in SYSTEM:
        if os.path.islink(place):  # on most systems /bin is a link to usr/bin
            os.symlink(os.readlink(place), place[1:])
        elif os.path.isdir(place):
            bind_read_only(place, place)


def _make_etc(settings: Packet) -> None:
    os.mkdir("etc")
    files = {
        "passwd": "root:x:0:0:root:/:/usr/sbin/nologin\n"
        f"jar:x:{UID}:{UID}:jar:{WORKSPACE}:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
        "group": f"root:x:0:\njar:x:{UID}:\nnogroup:x:65534:\n",
        "hosts": f"127.0.0.1 localhost {settings['hostname']}\n::1 localhost\n",
        "hostname": f"{settings['hostname']}\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "shells": "/bin/sh\n",
    }
    for name, text in files.items():
        with open(f"etc/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    bound = [*_ETC_BOUND, "resolv.conf"] if settings["network"] == "host" else _ETC_BOUND
    for place in sorted(place for name in bound for place in glob.glob(f"/etc/{name}")):
        bind_read_only(place, place)


def _make_dev() -> None:
    os.makedirs("dev/shm")
    for name in _DEVICES:
        os.close(os.open(f"dev/{name}", os.O_CREAT | os.O_WRONLY, 0o644))
        # Read-only keeps its times and modes, which are the host's; a device is written to all the same.
        _bind(f"/dev/{name}", f"dev/{name}", MountAttr.RDONLY | MountAttr.NOSUID | MountAttr.NOEXEC)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"dev/{name}")
