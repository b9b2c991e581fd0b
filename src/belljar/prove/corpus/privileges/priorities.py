"""Take more than our share: real-time scheduling, priorities, immunity against the memory killer, locked memory."""

TITLE = "Raise priorities and limits"
MUST_NOT = "No priority and no hard limit can be raised."
SEVERITY = "medium"
LAYER = "capabilities"

import os
import resource

from kit import attempt, broken, call, end


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


attempt("nice -5", os.setpriority, os.PRIO_PROCESS, 0, -5)
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    attempt(f"scheduler {policy}", os.sched_setscheduler, 0, policy, os.sched_param(1))
attempt("real-time disk", call, "ioprio_set", 1, 0, 1 << 13)
attempt("immunity", write, "/proc/self/oom_score_adj", "-500")
for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_DATA"):
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:
        broken(f"{name} has no limit")
        continue
    try:
        resource.setrlimit(kind, (soft, hard + 1))
        broken(f"{name} was raised")
    except (OSError, ValueError):
        pass
end()
