"""Burn the processors, in several processes."""

TITLE = "Burn the processors"
MUST_NOT = "The CPU time of all processes together is bounded."
SEVERITY = "medium"
LAYER = "cpu"
JUDGE = "expected"
EXPECT = ["timed_out"]
LIMITS = {"cpu": "400ms", "wall": "5s"}

import os
import time

from kit import broken

for _ in range(2):
    if os.fork() == 0:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            pass
        os._exit(0)
began = time.process_time()
while time.process_time() - began < 3:
    pass
broken("3 s of CPU in a limit of 0.4 s")
