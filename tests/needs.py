"""What a test needs of the machine: missing means skip on a laptop and fail where it was promised to work.

`BELLJAR_MUST_WORK=local,...` is that promise. To add a feature: one probe here and one row in `FEATURES`.
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
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


FEATURES: Mapping[str, Probe] = {
    "linux": linux,
    "local": local,
}


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
