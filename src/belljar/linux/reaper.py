"""Ends process trees for good: who adopts orphans can kill until nothing is left below it."""

import os
import select
import signal
import time
from collections.abc import Collection
from typing import NamedTuple

from belljar.linux.processes import children, parent


class Reaped(NamedTuple):
    """A child that was waited for: what the kernel says of it and of those it waited for itself."""

    pid: int
    status: int
    cpu_user: float
    cpu_system: float
    memory_peak: int


def reap(pid: int = -1, options: int = os.WNOHANG) -> Reaped | None:
    """Wait for one child; None when none has ended. Raises ChildProcessError when there is none at all."""
    found, status, usage = os.wait4(pid, options)
    if found == 0:
        return None
    return Reaped(found, status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024)


def end_strays(keep: Collection[int] = (), within: float = 5.0) -> tuple[list[Reaped], bool]:
    """Kill and reap all descendants except the children in `keep` and what is below them.

    The caller must adopt orphans: the children of a killed process become ours, so that each round finds what the
    last one set free, and "no child is left" means that nothing is. Returns what was reaped, and whether it is over.
    """
    ended: list[Reaped] = []
    deadline = time.monotonic() + within
    me = os.getpid()
    while strays := [pid for pid in children(me) if pid not in keep]:
        for pid in strays:
            _kill_tree(pid)
        for pid in strays:
            if not _wait_until_over(pid, deadline):
                return ended, False
            gone = reap(pid, 0)
            if gone is not None:
                ended.append(gone)
    return ended, True


def _kill_tree(root: int) -> None:
    """Kill our child `root` and all below it, so that a tree that forks all the time cannot outgrow the rounds."""
    tree = [(child, root) for child in children(root)]
    for pid, _ in tree:
        tree += [(child, pid) for child in children(pid)]
    for pid, forked_by in reversed(tree):
        _kill_pinned(pid, forked_by)
    try:
        os.kill(root, signal.SIGKILL)  # only we can reap it, so the pid is not reused
    except PermissionError:
        pass  # it runs a setuid program: out of our reach, which the deadline of the caller reports


def _kill_pinned(pid: int, forked_by: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if parent(pid) == forked_by:  # the pid may have been reused between the list and the pin
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        os.close(handle)


def _wait_until_over(pid: int, deadline: float) -> bool:
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
    finally:
        os.close(handle)
