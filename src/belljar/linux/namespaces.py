"""Namespaces: unshare(2), setns(2), clone(2), and what belongs to one: id maps, host name, loopback, keyring."""

import ctypes
import os
import signal
from collections.abc import Sequence
from enum import IntFlag

from belljar.linux.libc import failure, libc, number, syscall

_UNSHARE = number("unshare")
_SETNS = number("setns")
_CLONE = number("clone")
_PRCTL = number("prctl")
_KEYCTL = number("keyctl")
_SOCKET = number("socket")
_IOCTL = number("ioctl")
_SETHOSTNAME = number("sethostname")
_SETDOMAINNAME = number("setdomainname")

PR_GET_TID_ADDRESS = 40  # Linux 3.5, CONFIG_CHECKPOINT_RESTORE
CLONE_CHILD_CLEARTID = 0x0020_0000
CLONE_CHILD_SETTID = 0x0100_0000
KEYCTL_JOIN_SESSION_KEYRING = 1
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
_AF_INET, _SOCK_DGRAM_CLOEXEC = 2, 2 | os.O_CLOEXEC

# Looked up once. pythonapi is a PyDLL too: the lock stays with us over all of them, as in os.fork.
_before_fork = ctypes.pythonapi.PyOS_BeforeFork
_after_fork_parent = ctypes.pythonapi.PyOS_AfterFork_Parent
_after_fork_child = ctypes.pythonapi.PyOS_AfterFork_Child
_before_fork.restype = _after_fork_parent.restype = _after_fork_child.restype = None

Map = tuple[int, int, int]
"""One line of an id map: first id inside, first id outside, how many."""


class Namespace(IntFlag):
    """CLONE_NEW*: the kinds of namespaces."""

    TIME = 0x0000_0080  # Linux 5.6; not with clone(2), where these bits are the exit signal
    MOUNT = 0x0002_0000
    CGROUP = 0x0200_0000  # Linux 4.6
    UTS = 0x0400_0000
    IPC = 0x0800_0000
    USER = 0x1000_0000
    PID = 0x2000_0000
    NET = 0x4000_0000


class _Ifreq(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * 16), ("flags", ctypes.c_short), ("rest", ctypes.c_char * 22))


def unshare(flags: int) -> None:
    """Move this process into new namespaces; a new pid namespace takes its next child. USER needs a single thread."""
    syscall(_UNSHARE, flags)


def setns(fd: int, flags: int = 0) -> None:
    """Move this thread into the namespace of `fd`, or into those of a pidfd that `flags` name (Linux 5.8)."""
    syscall(_SETNS, fd, flags)


def fork_into(flags: int, *, hooks: bool = True) -> int:
    """os.fork, with the child in new namespaces: its pid for the caller, 0 in the child.

    Not libc's fork: handlers of pthread_atfork do not run, so the caller must have one thread. Without `hooks` Python's
    at-fork hooks do not run either: for a child that runs no code of others, and forks with hooks before one does.
    """
    address = ctypes.c_void_p()
    # libc keeps the thread's id in memory, and its own fork lets the kernel write the child's there. So do we, where
    # the kernel tells the address; elsewhere the child's libc believes it is the parent's thread, which only
    # pthread_mutex_lock with error checking or priorities looks at.
    known = libc.syscall(_PRCTL, PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0, 0) == 0 and address.value
    if known:
        flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID
    tid = address.value if known else 0
    if hooks:
        _before_fork()
    # The child's thread id is the 4th argument on x86_64, the 5th on aarch64; the other one is unused without SETTLS.
    pid: int = libc.syscall(_CLONE, flags | signal.SIGCHLD, 0, 0, tid, tid, 0)
    if pid == 0:
        if hooks:
            _after_fork_child()
        return 0
    error = failure("clone") if pid == -1 else None
    if hooks:
        _after_fork_parent()
    if error:
        raise error
    return pid


def write_maps(pid: int | str, uid_map: Sequence[Map], gid_map: Sequence[Map], *, deny_setgroups: bool = False) -> None:
    """Write the id maps of the user namespace of `pid` (or "self"): once, and before it changes its identity.

    Without CAP_SETGID outside, a group map needs `deny_setgroups`.
    """
    if deny_setgroups:
        _write(f"/proc/{pid}/setgroups", b"deny")
    for name, lines in (("uid_map", uid_map), ("gid_map", gid_map)):
        _write(f"/proc/{pid}/{name}", "".join(f"{a} {b} {count}\n" for a, b, count in lines).encode())


def set_hostname(name: str) -> None:
    """Set the host name of this uts namespace."""
    text = name.encode()
    syscall(_SETHOSTNAME, text, len(text))


def set_domainname(name: str) -> None:
    """Set the NIS domain name of this uts namespace."""
    text = name.encode()
    syscall(_SETDOMAINNAME, text, len(text))


def loopback_up() -> None:
    """Switch `lo` on in this net namespace, which gives it its addresses."""
    fd = syscall(_SOCKET, _AF_INET, _SOCK_DGRAM_CLOEXEC, 0)
    try:
        request = _Ifreq(b"lo", 0)
        syscall(_IOCTL, fd, SIOCGIFFLAGS, ctypes.byref(request))
        request.flags |= IFF_UP
        syscall(_IOCTL, fd, SIOCSIFFLAGS, ctypes.byref(request))
    finally:
        os.close(fd)


def join_new_session_keyring() -> int:
    """Leave the caller's session keyring for a new, empty one; returns its serial number."""
    return syscall(_KEYCTL, KEYCTL_JOIN_SESSION_KEYRING, None)


def _write(path: str, text: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text)  # the kernel takes a map in one write only
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.close(fd)
