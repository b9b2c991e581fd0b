"""What will be applied to a run on this host: a policy and a backend's means, put together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from belljar.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from belljar.limits import Limits
    from belljar.policy import Policy
    from belljar.report import Report

CLEAN_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a backend will apply: the policy as asked, and the environment that it adds."""

    policy: Policy
    environment: Mapping[str, str]


def check_floor(policy: Policy, report: Report, backend: str) -> None:
    """Refuse a run whose policy asks for more than the backend gives."""
    if not report.level.at_least(policy.level):
        raise SetupError(
            f"backend {backend!r} gives level {report.level.value!r} here, and the policy's floor is "
            f"{policy.level.value!r}",
            layer="level",
            cure=f"choose another backend, or accept the level {report.level.value!r} by name, as the policy's level",
        )


def rlimits(limits: Limits) -> dict[str, int]:
    """The resource limits of each process of a run, for setrlimit(2).

    Memory and CPU are watched over all processes together; here they only stand behind the watcher, with room, so that
    it is the watcher who decides: a refused allocation would look like the program's own error. RLIMIT_DATA counts what
    a process could write to, not what it reserves.
    """
    values = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": limits.disk,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_DATA": 4 * limits.memory + (4 << 30),
        "RLIMIT_SIGPENDING": 1024,
        "RLIMIT_MSGQUEUE": 1 << 20,
        "RLIMIT_MEMLOCK": 1 << 20,
        "RLIMIT_RTPRIO": 0,
        "RLIMIT_NICE": 0,
    }
    if limits.cpu is not None:
        values["RLIMIT_CPU"] = math.ceil(limits.cpu) + 2
    return values
