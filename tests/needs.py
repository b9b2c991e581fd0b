"""What a test needs of the machine: missing means skip on a laptop and fail where it was promised to work.

`BELLJAR_MUST_WORK=local,...` is that promise. To add a feature: one probe here and one row in `FEATURES`.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

Probe = Callable[[], str | None]


def linux() -> str | None:
    """Whether this is Linux."""
    return None if sys.platform == "linux" else f"this is {sys.platform}, not Linux"


def local() -> str | None:
    """Whether backend `local` can run here."""
    if reason := linux():
        return reason
    if not Path("/proc/self/stat").exists():
        return "/proc is not mounted"
    try:
        pidfd = os.pidfd_open(os.getpid())
    except OSError as error:
        return f"pidfd_open does not work: {error.strerror}"
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except OSError as error:
        return f"pidfd_send_signal does not work: {error.strerror}"
    finally:
        os.close(pidfd)
    return None


@cache
def root() -> str | None:
    """Whether the tests run as root, with what root may do outside a container."""
    if reason := linux():
        return reason
    if os.geteuid() != 0:
        return "the tests do not run as root"
    return _tried("from belljar.linux.namespaces import *; unshare(Namespace.MOUNT)")


@cache
def userns() -> str | None:
    """Whether a user namespace can be made, and capabilities in it work (Ubuntu 24.04 gives one without)."""
    if reason := linux():
        return reason
    return _tried(
        "from belljar.linux.namespaces import *; from belljar.linux.mounts import make_private; import os;"
        "uid, gid = os.getuid(), os.getgid(); unshare(Namespace.USER);"
        "write_maps('self', [(0, uid, 1)], [(0, gid, 1)], deny_setgroups=True);"
        "unshare(Namespace.MOUNT); make_private()"
    )


@cache
def landlock() -> str | None:
    """Whether the kernel has Landlock."""
    if reason := linux():
        return reason
    return _tried("from belljar.linux.landlock import abi; assert abi() > 0, 'no Landlock'")


@cache
def seccomp() -> str | None:
    """Whether the kernel takes the filter for this machine."""
    if reason := linux():
        return reason
    return _tried(
        "from belljar.linux import prctl, seccomp; prctl.no_new_privs(); seccomp.install(seccomp.load('cell'))"
    )


@cache
def cgroup() -> str | None:
    """Whether control groups of either generation can be made, with memory and pids."""
    if reason := linux():
        return reason
    from belljar.linux.cgroup import probe

    tree = probe()
    if isinstance(tree, str):
        return tree
    tree.remove()
    return None


def _tried(code: str) -> str | None:
    """None when a fresh interpreter gets through `code`, or what it said last."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    return None if done.returncode == 0 else (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]


FEATURES: Mapping[str, Probe] = {
    "linux": linux,
    "local": local,
    "root": root,
    "userns": userns,
    "landlock": landlock,
    "seccomp": seccomp,
    "cgroup": cgroup,
}


@cache
def no_ordinary_python() -> str | None:
    """Why the interpreter of the tests cannot be run by an ordinary user; None where it can."""
    drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    done = subprocess.run([*drop, sys.executable, "-c", "pass"], capture_output=True, text=True, check=False, cwd="/")
    return None if done.returncode == 0 else f"an ordinary user cannot run {sys.executable}: {done.stderr.strip()}"


def must_work(text: str, known: Mapping[str, Probe] = FEATURES) -> frozenset[str]:
    """Read the comma list of BELLJAR_MUST_WORK."""
    promised = frozenset(name.strip() for name in text.split(",") if name.strip())
    if unknown := sorted(promised - set(known)):
        raise pytest.UsageError(
            f"BELLJAR_MUST_WORK names unknown features: {', '.join(unknown)}; known are {', '.join(known)}"
        )
    return promised


def need(*names: str, known: Mapping[str, Probe] = FEATURES, promise: str | None = None) -> None:
    """Skip this test when a feature is lacking here; fail it when BELLJAR_MUST_WORK promised the feature."""
    promised = must_work(os.environ.get("BELLJAR_MUST_WORK", "") if promise is None else promise, known)
    for name in names:
        if name not in known:
            raise pytest.UsageError(f"unknown feature {name!r}; known are {', '.join(known)}")
        reason = known[name]()
        if reason is None:
            continue
        if name in promised:
            pytest.fail(f"{name} must work here (BELLJAR_MUST_WORK), but {reason}", pytrace=False)
        pytest.skip(f"needs {name}: {reason}")
