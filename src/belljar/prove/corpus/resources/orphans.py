"""Make orphans as fast as we can: who has to bury them may have no time left to look at the clock."""

TITLE = "Keep the init busy with orphans"
MUST_NOT = "The run ends at its wall limit."
SEVERITY = "high"
LAYER = "end"
JUDGE = "expected"
EXPECT = ["timed_out"]
LIMITS = {"wall": "500ms"}

import ctypes
import signal

from kit import broken

libc = ctypes.PyDLL(None)
fork, leave, wait = libc.fork, libc._exit, libc.waitpid
signal.signal(signal.SIGINT, signal.SIG_IGN)
for _ in range(3):
    if fork() == 0:
        break
for _ in range(400_000):
    child = fork()
    if child == 0:
        fork()
        leave(0)
    elif child > 0:
        wait(child, None, 0)
broken("nobody looked at the clock")
