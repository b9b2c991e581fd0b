"""prctl(2): attributes of the calling process and thread."""

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36  # Linux 3.4

_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signum: int) -> None:
    """Get `signum` when the thread that forked this process ends."""
    _prctl(PR_SET_PDEATHSIG, signum)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"prctl({option})")
