"""Capabilities: the five sets of the calling thread."""

import ctypes
import errno
from enum import IntEnum
from typing import NamedTuple

from belljar.linux.libc import number, syscall
from belljar.linux.prctl import prctl

_CAPGET = number("capget")
_CAPSET = number("capset")

PR_CAPBSET_READ = 23
PR_CAPBSET_DROP = 24
PR_CAP_AMBIENT = 47  # Linux 4.3
PR_CAP_AMBIENT_IS_SET = 1
PR_CAP_AMBIENT_CLEAR_ALL = 4
_VERSION_3 = 0x2008_0522


class Capability(IntEnum):
    """CAP_*, those that the set-up of a cell needs."""

    KILL = 5
    SETGID = 6
    SETUID = 7
    SETPCAP = 8
    NET_ADMIN = 12
    SYS_ADMIN = 21
    SETFCAP = 31


class Held(NamedTuple):
    """The capability sets of a thread, as bit masks."""

    effective: int
    permitted: int
    inheritable: int
    bounding: int
    ambient: int


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


_Sets = _Data * 2  # the lower and the upper 32 capabilities


def drop_bounding_set() -> None:
    """No execve can give any capability from now on. Needs SETPCAP, so before `clear`."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == errno.EINVAL and capability:  # one more than this kernel has
                return
            raise


def clear() -> None:
    """Give up every capability but the bounding set."""
    keep_only()


def keep_only(*capabilities: int) -> None:
    """Give up every capability but these, which stay permitted and effective; none is inherited."""
    mask = 0
    for capability in capabilities:
        mask |= 1 << capability
    low, high = mask & 0xFFFF_FFFF, mask >> 32
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header, sets = _Header(_VERSION_3, 0), _Sets(_Data(low, low, 0), _Data(high, high, 0))
    syscall(_CAPSET, ctypes.byref(header), sets)


def permitted() -> int:
    """What this thread may make effective."""
    low, high = _get()
    return int(low.permitted | high.permitted << 32)


def _get() -> tuple[_Data, _Data]:
    header, sets = _Header(_VERSION_3, 0), _Sets()
    syscall(_CAPGET, ctypes.byref(header), sets)
    low, high = sets
    return low, high


def held() -> Held:
    """The sets of this thread, without /proc."""
    low, high = _get()
    bounding = ambient = 0
    for capability in range(64):
        try:
            bounding |= prctl(PR_CAPBSET_READ, capability) << capability
        except OSError as error:
            if error.errno == errno.EINVAL:
                break
            raise
        ambient |= prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability) << capability
    return Held(
        low.effective | high.effective << 32,
        low.permitted | high.permitted << 32,
        low.inheritable | high.inheritable << 32,
        bounding,
        ambient,
    )
