"""Landlock: access rights that a process gives up, by file, TCP port and scope. Needs no privilege."""

import ctypes
import errno
import os
from enum import IntFlag
from types import TracebackType
from typing import Self

from belljar.linux.libc import number, syscall

_CREATE = number("landlock_create_ruleset")
_ADD = number("landlock_add_rule")
_RESTRICT = number("landlock_restrict_self")

LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1
LANDLOCK_RULE_NET_PORT = 2


class AccessFs(IntFlag):
    """LANDLOCK_ACCESS_FS_*. A file takes EXECUTE, WRITE_FILE, READ_FILE, TRUNCATE and IOCTL_DEV only."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13  # ABI 2, Linux 5.19: rename and link between directories; always denied before
    TRUNCATE = 1 << 14  # ABI 3, Linux 6.2; always allowed before
    IOCTL_DEV = 1 << 15  # ABI 5, Linux 6.10


class AccessNet(IntFlag):
    """LANDLOCK_ACCESS_NET_*: by port, whatever the address. Other protocols than TCP (UDP, MPTCP, SCTP) go past it."""

    BIND_TCP = 1 << 0  # ABI 4, Linux 6.7
    CONNECT_TCP = 1 << 1  # ABI 4


class Scope(IntFlag):
    """LANDLOCK_SCOPE_*: what cannot leave the domain."""

    ABSTRACT_UNIX_SOCKET = 1 << 0  # ABI 6, Linux 6.12
    SIGNAL = 1 << 1  # ABI 6


class Restrict(IntFlag):
    """LANDLOCK_RESTRICT_SELF_*: what the audit log gets to hear."""

    LOG_SAME_EXEC_OFF = 1 << 0  # ABI 7, Linux 6.15
    LOG_NEW_EXEC_ON = 1 << 1  # ABI 7
    LOG_SUBDOMAINS_OFF = 1 << 2  # ABI 7


class _RulesetAttr(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathAttr(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _PortAttr(ctypes.Structure):
    _fields_ = (("access", ctypes.c_uint64), ("port", ctypes.c_uint64))


def abi() -> int:
    """The version that this kernel has, 0 for none (not built in, or not in the list of its `lsm=`)."""
    try:
        return syscall(_CREATE, None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP):
            return 0
        raise


def fs_rights(abi: int) -> AccessFs:
    """All rights on files that a version knows."""
    bits = 0 if abi < 1 else 13 if abi < 2 else 14 if abi < 3 else 15 if abi < 5 else 16
    return AccessFs((1 << bits) - 1)


def net_rights(abi: int) -> AccessNet:
    """All rights on TCP ports that a version knows."""
    return AccessNet(0 if abi < 4 else 3)


def scopes(abi: int) -> Scope:
    """All scopes that a version knows."""
    return Scope(0 if abi < 6 else 3)


class Ruleset:
    """What is handled is denied, but for the rules that are added; the rest is as before."""

    def __init__(self, handled_fs: int, handled_net: int = 0, scoped: int = 0) -> None:
        # A kernel with a shorter structure takes this one too, as long as what it does not know is zero.
        attr = _RulesetAttr(handled_fs, handled_net, scoped)
        self.fd = syscall(_CREATE, ctypes.byref(attr), ctypes.sizeof(attr), 0)

    def allow_path(self, fd: int, access: int) -> None:
        """Allow `access` (of what is handled) to the file of `fd`, or to all below its directory."""
        attr = _PathAttr(access, fd)
        syscall(_ADD, self.fd, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(attr), 0)

    def allow_port(self, port: int, access: int) -> None:
        """Allow `access` to a TCP port; port 0 with BIND_TCP is "any free one"."""
        attr = _PortAttr(access, port)
        syscall(_ADD, self.fd, LANDLOCK_RULE_NET_PORT, ctypes.byref(attr), 0)

    def restrict_self(self, flags: int = 0) -> None:
        """Hold this thread and its children to the rules, for good. Needs no_new_privs or CAP_SYS_ADMIN."""
        syscall(_RESTRICT, self.fd, flags)

    def close(self) -> None:
        """Close the descriptor; what was restricted stays so."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
