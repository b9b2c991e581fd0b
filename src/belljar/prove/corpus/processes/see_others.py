"""Look for processes outside: in /proc, by their groups and sessions, their scheduling and their limits."""

TITLE = "See processes of the host"
MUST_NOT = "No process outside can be seen."
SEVERITY = "high"
LAYER = "processes"

import os
import resource

from kit import attempt, broken, end, told

mine = os.getpid()
others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != mine]
for pid in others:
    broken(f"sees {pid}: {open(f'/proc/{pid}/comm').read().strip()}")
    break
for pid in (told["victim"], told["caller"]):
    attempt(f"session of {pid}", os.getsid, pid)
    attempt(f"group of {pid}", os.getpgid, pid)
    attempt(f"scheduler of {pid}", os.sched_getscheduler, pid)
    attempt(f"processors of {pid}", os.sched_getaffinity, pid)
    attempt(f"priority of {pid}", os.getpriority, os.PRIO_PROCESS, pid)
    attempt(f"limits of {pid}", resource.prlimit, pid, resource.RLIMIT_NOFILE)
end()
