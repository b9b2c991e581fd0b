"""Mounts: the classic calls, those by descriptor (Linux 5.2, mount_setattr 5.12), and /proc/PID/mountinfo."""

import ctypes
import os
from enum import IntFlag
from typing import NamedTuple

from belljar.linux.libc import number, syscall

_MOUNT = number("mount")
_UMOUNT = number("umount2")
_PIVOT_ROOT = number("pivot_root")
_OPEN_TREE = number("open_tree")
_MOVE_MOUNT = number("move_mount")
_MOUNT_SETATTR = number("mount_setattr")
_FSOPEN = number("fsopen")
_FSCONFIG = number("fsconfig")
_FSMOUNT = number("fsmount")

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
MOVE_MOUNT_F_EMPTY_PATH = 0x04
MOVE_MOUNT_T_EMPTY_PATH = 0x40
FSOPEN_CLOEXEC = FSMOUNT_CLOEXEC = 1
FSCONFIG_SET_STRING = 1
FSCONFIG_CMD_CREATE = 6


class MountFlag(IntFlag):
    """MS_*: what mount(2) takes. Propagation (PRIVATE ...) cannot be combined with other changes."""

    RDONLY = 1 << 0
    NOSUID = 1 << 1
    NODEV = 1 << 2
    NOEXEC = 1 << 3
    REMOUNT = 1 << 5
    NOSYMFOLLOW = 1 << 8  # Linux 5.10
    NOATIME = 1 << 10
    BIND = 1 << 12
    MOVE = 1 << 13
    REC = 1 << 14
    UNBINDABLE = 1 << 17
    PRIVATE = 1 << 18
    SLAVE = 1 << 19
    SHARED = 1 << 20
    RELATIME = 1 << 21


class MountAttr(IntFlag):
    """MOUNT_ATTR_*: what mount_setattr(2) and fsmount(2) take."""

    RDONLY = 0x01
    NOSUID = 0x02
    NODEV = 0x04
    NOEXEC = 0x08
    NOATIME = 0x10
    NODIRATIME = 0x80
    IDMAP = 0x10_0000  # Linux 5.12
    NOSYMFOLLOW = 0x20_0000  # Linux 5.14


class UmountFlag(IntFlag):
    """MNT_* and UMOUNT_*: what umount2(2) takes."""

    FORCE = 1
    DETACH = 2
    EXPIRE = 4
    NOFOLLOW = 8


class OpenTree(IntFlag):
    """OPEN_TREE_*: what open_tree(2) takes."""

    CLONE = 1
    CLOEXEC = os.O_CLOEXEC
    RECURSIVE = AT_RECURSIVE


class MountInfo(NamedTuple):
    """One line of mountinfo."""

    mount_id: int
    parent_id: int
    device: str
    root: str
    """Which directory of the file system is mounted."""
    target: str
    options: tuple[str, ...]
    """Of this mount: `ro`, `nosuid` ..."""
    propagation: tuple[str, ...]
    """`shared:N`, `master:N` ...; empty is private."""
    fstype: str
    source: str
    super_options: tuple[str, ...]
    """Of the file system, for all its mounts."""


class _Attr(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


# Plain numbers: to combine flags of an enum takes longer than a mount.
_BIND, _BIND_ALL = int(MountFlag.BIND), int(MountFlag.BIND | MountFlag.REC)


def mount(source: str | None, target: str, fstype: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2)."""
    syscall(_MOUNT, _bytes(source), _bytes(target), _bytes(fstype), flags, _bytes(data))


def bind(source: str, target: str, *, recursive: bool = False) -> None:
    """Show `source` at `target` too. Its options come along: `remount_bind` changes them."""
    mount(source, target, None, _BIND_ALL if recursive else _BIND)


def remount_bind(target: str, flags: int) -> None:
    """Give the one mount at `target` these options instead of its own; mounts below it keep theirs."""
    mount(None, target, None, MountFlag.REMOUNT | MountFlag.BIND | flags)


def make_private(target: str = "/") -> None:
    """No mount or umount below `target` goes to other mount namespaces or comes from there."""
    mount(None, target, None, MountFlag.REC | MountFlag.PRIVATE)


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the old one at `old`; with "." for both it is below the new one, to be unmounted."""
    syscall(_PIVOT_ROOT, os.fsencode(new), os.fsencode(old))


def umount(target: str, flags: int = 0) -> None:
    """umount2(2)."""
    syscall(_UMOUNT, os.fsencode(target), flags)


def open_tree(path: str | int, flags: int = 0, at: int = AT_FDCWD) -> int:
    """A descriptor for the mount at `path` (or of a descriptor); with CLONE, for a copy that is mounted nowhere yet."""
    if isinstance(path, int):
        return syscall(_OPEN_TREE, path, b"", flags | AT_EMPTY_PATH | OpenTree.CLOEXEC)
    return syscall(_OPEN_TREE, at, os.fsencode(path), flags | OpenTree.CLOEXEC)


def move_mount(tree: int, target: str | int, at: int = AT_FDCWD) -> None:
    """Put the mount of a descriptor at `target`, a path or the descriptor of a directory or file."""
    if isinstance(target, int):
        syscall(_MOVE_MOUNT, tree, b"", target, b"", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)
    else:
        syscall(_MOVE_MOUNT, tree, b"", at, os.fsencode(target), MOVE_MOUNT_F_EMPTY_PATH)


def mount_setattr(
    fd: int,
    path: str = "",
    *,
    add: int = 0,
    clear: int = 0,
    propagation: int = 0,
    userns_fd: int = 0,
    recursive: bool = False,
) -> None:
    """Change the options of the mount of `fd`, or at `path` below it; with `recursive` of those below it too."""
    flags = (0 if path else AT_EMPTY_PATH) | (AT_RECURSIVE if recursive else 0)
    attr = _Attr(add, clear, propagation, userns_fd)
    syscall(_MOUNT_SETATTR, fd, os.fsencode(path), flags, ctypes.byref(attr), ctypes.sizeof(attr))


def new_tmpfs(size: int, inodes: int, mode: int = 0o755, flags: int = 0) -> int:
    """A descriptor for a new tmpfs that is mounted nowhere yet; `flags` are MountAttr. The size is not reserved."""
    context = syscall(_FSOPEN, b"tmpfs", FSOPEN_CLOEXEC)
    try:
        for key, value in ((b"size", b"%d" % size), (b"nr_inodes", b"%d" % inodes), (b"mode", b"%o" % mode)):
            syscall(_FSCONFIG, context, FSCONFIG_SET_STRING, key, value, 0)
        syscall(_FSCONFIG, context, FSCONFIG_CMD_CREATE, None, None, 0)
        return syscall(_FSMOUNT, context, FSMOUNT_CLOEXEC, flags)
    finally:
        os.close(context)


def mountinfo(pid: int | str = "self") -> list[MountInfo]:
    """The mounts that `pid` sees, parents before what is mounted on them."""
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        return parse_mountinfo(file.read())


def parse_mountinfo(text: str) -> list[MountInfo]:
    """The lines of a mountinfo file."""
    return [_parse(line) for line in text.split("\n") if line]


def _parse(line: str) -> MountInfo:
    fields = line.split(" ")
    end = fields.index("-", 6)  # before it any number of propagation fields
    fstype, source, super_options = fields[end + 1 : end + 4]
    return MountInfo(
        int(fields[0]),
        int(fields[1]),
        fields[2],
        _plain(fields[3]),
        _plain(fields[4]),
        tuple(fields[5].split(",")),
        tuple(fields[6:end]),
        _plain(fstype),
        _plain(source),
        tuple(super_options.split(",")),
    )


def _plain(text: str) -> str:
    """Without the kernel's octal escapes for space, tab, newline and backslash."""
    first, *escaped = text.split("\\")
    return first + "".join(chr(int(part[:3], 8)) + part[3:] for part in escaped)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)
