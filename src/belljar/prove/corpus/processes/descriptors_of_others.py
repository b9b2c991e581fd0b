"""Take descriptors out of other processes by pidfd, and compare them with ours."""

TITLE = "Take descriptors of others"
MUST_NOT = "No descriptor of another process can be had."
SEVERITY = "critical"
LAYER = "syscalls"

import os
import signal

from kit import attempt, call, end, told

child = os.fork()
if child == 0:
    signal.pause()
for pid in (child, 1, os.getppid(), told["victim"]):
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        continue
    attempt(f"descriptor of {pid}", lambda handle=handle: os.close(call("pidfd_getfd", handle, 0, 0)))
    os.close(handle)
for pid in (child, 1):
    attempt(f"compare with {pid}", call, "kcmp", os.getpid(), pid, 1, 0, 0)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
end()
