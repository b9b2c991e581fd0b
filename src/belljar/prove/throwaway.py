"""A place to throw away: what has no walls runs in namespaces that nobody needs afterwards.

All that is mounted is read-only there, but for fresh memory where programs write and people live, and a copy of /etc.
There is no network but a loopback, and no process but those of the proof. Its user is root there, and not outside.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from belljar.errors import SetupError
from belljar.linux import mounts, namespaces, prctl
from belljar.linux.mounts import MountAttr, MountFlag, OpenTree
from belljar.linux.namespaces import Namespace

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL = Namespace.USER | Namespace.MOUNT | Namespace.PID | Namespace.NET | Namespace.IPC | Namespace.UTS
_FRESH = ("/tmp", "/dev/shm", "/var/tmp", "/run", "/root", "/home")
_LARGEST = 1 << 20
_CURE = "allow unprivileged user namespaces, or prove another backend"


def run_in(function: Callable[[], int]) -> int:
    """Run the function in a new place; returns its exit code. Needs a process with a single thread."""
    if threads() > 1:
        raise SetupError("this process has several threads", layer="throw-away namespace", cure="run belljar prove")
    mapped, tell = os.pipe()
    failed, fails = os.pipe()
    ids = os.geteuid(), os.getegid()
    try:
        pid = namespaces.fork_into(_ALL)
    except OSError as error:
        raise SetupError("it cannot be made", layer="throw-away namespace", errno=error.errno, cure=_CURE) from error
    if pid == 0:
        os.close(tell)
        os.close(failed)
        _live(function, mapped, fails)
    os.close(mapped)
    os.close(fails)
    try:
        namespaces.write_maps(pid, [(0, ids[0], 1)], [(0, ids[1], 1)], deny_setgroups=True)
        os.write(tell, b"1")
        os.close(tell)
        with os.fdopen(failed, "rb") as report:
            if why := report.read().decode():
                raise SetupError(why, layer="throw-away namespace", cure=_CURE)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except BaseException:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise


def threads() -> int:
    """How many threads this process has."""
    return len(os.listdir("/proc/self/task"))


def _live(function: Callable[[], int], mapped: int, fails: int) -> NoReturn:
    """PID 1 of the place: builds it, forks who does the work, and reaps until that one has ended."""
    code = 1
    try:
        prctl.die_with_parent(signal.SIGKILL)
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)  # our parent hears them, and ends us
        if os.read(mapped, 1) == b"1":
            _build()
            worker = os.fork()
            if worker == 0:
                os.close(fails)
                _work(function)
            os.close(fails)
            code = _reap_until(worker)
    except OSError as error:
        os.write(fails, f"{error.filename or 'it'}: {error.strerror}".encode())
    except BaseException:  # noqa: BLE001  a forked process must not unwind into what its parent was doing
        traceback.print_exc()
    os._exit(code)


def _work(function: Callable[[], int]) -> NoReturn:
    code = 1
    try:
        code = function()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  as above
        traceback.print_exc()
    os._exit(code)


def _reap_until(worker: int) -> int:
    """Its exit code. All others die with us, who are their PID 1."""
    while True:
        pid, status = os.wait()
        if pid == worker:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _build() -> None:
    mounts.make_private("/")
    kept = [(place, mounts.open_tree(place, OpenTree.CLONE | OpenTree.RECURSIVE)) for place in _needed_below_fresh()]
    mounts.mount_setattr(mounts.AT_FDCWD, "/", add=MountAttr.RDONLY, recursive=True)
    for _, tree in kept:
        mounts.mount_setattr(tree, add=MountAttr.RDONLY, recursive=True)
    for place in _FRESH:
        if os.path.isdir(place) and not os.path.islink(place):
            mounts.mount("fresh", place, "tmpfs", MountFlag.NOSUID | MountFlag.NODEV, "size=256m,mode=1777")
    for place, tree in kept:
        os.makedirs(place, exist_ok=True)
        mounts.move_mount(tree, place)
        os.close(tree)
    _copy_etc()
    mounts.mount("proc", "/proc", "proc", MountFlag.NOSUID | MountFlag.NODEV | MountFlag.NOEXEC)
    namespaces.loopback_up()
    tempfile.tempdir = "/tmp"
    os.chdir("/")


def _needed_below_fresh() -> list[str]:
    """The places of the interpreter and of ours that fresh memory would hide: none inside another."""
    wanted = {os.path.realpath(place) for place in (sys.prefix, sys.base_prefix, *sys.path) if os.path.isdir(place)}
    found: list[str] = []
    for place in sorted(wanted):
        if place.startswith(tuple(f"{fresh}/" for fresh in _FRESH)) and not place.startswith(
            tuple(f"{other}/" for other in found)
        ):
            found.append(place)
    return found


def _copy_etc() -> None:
    """A copy of what can be read, so that an attack on /etc has something that may break; of secrets, bait."""
    copy = tempfile.mkdtemp(dir="/tmp", prefix="etc-")
    for folder, folders, names in os.walk("/etc"):
        folders[:] = [name for name in folders if folder != "/etc" or name in ("ssl", "alternatives", "ld.so.conf.d")]
        target = os.path.join(copy, os.path.relpath(folder, "/etc"))
        os.makedirs(target, exist_ok=True)
        for name in names:
            path = os.path.join(folder, name)
            with suppress(OSError):
                if not os.path.islink(path) and not os.stat(path).st_mode & 0o004:
                    continue  # a secret
                if os.path.islink(path) or os.path.getsize(path) <= _LARGEST:
                    shutil.copy2(path, os.path.join(target, name), follow_symlinks=False)
    for path in (f"{copy}/shadow", "/root/.netrc", "/home/bait"):  # example path
        with suppress(OSError), open(path, "w", encoding="ascii") as file:
            file.write("bait:of:belljar:prove")
    os.chmod(copy, 0o755)
    mounts.bind(copy, "/etc")
