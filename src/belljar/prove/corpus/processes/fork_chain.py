"""Run away by forking: each process lives for a moment, and has forked the next one before anybody can kill it."""

TITLE = "Run away by a chain of forks"
MUST_NOT = "Nothing of the chain is alive when the result is there."
SEVERITY = "critical"
LAYER = "end"
JUDGE = "nothing_left"
LIMITS = {"wall": "3s"}

import ctypes
import os
import time

from kit import say, token

ctypes.CDLL(None).prctl(15, token.encode(), 0, 0, 0)  # PR_SET_NAME, which children keep
if os.fork() == 0:
    os.setsid()
    until = time.monotonic() + 8
    for _ in range(4000):
        if time.monotonic() > until or os.fork():
            os._exit(0)
    time.sleep(8)
    os._exit(0)
say("STARTED")
time.sleep(0.2)
