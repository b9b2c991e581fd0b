"""Take hold of other processes by ptrace: the init, one of the host, and a child of ours."""

TITLE = "Attach to processes"
MUST_NOT = "No process can be traced."
SEVERITY = "critical"
LAYER = "syscalls"

import os
import signal

from kit import end, reaches, told

PTRACE_SEIZE, PTRACE_TRACEME = 0x4206, 0  # SEIZE does not stop who is seized; our end lets go of it
child = os.fork()
if child == 0:
    signal.pause()
for pid in (1, os.getppid(), child):
    reaches("ptrace", PTRACE_SEIZE, pid, 0, 0)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
reaches("ptrace", 0x4206 | (1 << 32), told["victim"], 0, 0)
end()
