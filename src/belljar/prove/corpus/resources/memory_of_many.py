"""Take memory in many processes, each of which stays below the limit."""

TITLE = "Fill the memory together"
MUST_NOT = "Processes that take three times the memory of the run together are stopped."
SEVERITY = "critical"
LAYER = "memory"
JUDGE = "expected"
EXPECT = ["out_of_memory"]
LIMITS = {"memory": "80M"}

import os
import time

from kit import broken

children = []
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        kept = bytearray(os.urandom(1 << 20) * 30)
        time.sleep(1.5)
        os._exit(0)
    children.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
if not any(codes):
    broken("240 MB in a limit of 80 MB")
else:
    from kit import held

    held("children were killed")
