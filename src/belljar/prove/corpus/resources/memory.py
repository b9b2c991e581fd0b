"""Take memory until somebody says no, in one process."""

TITLE = "Fill the memory"
MUST_NOT = "A program that takes three times its memory is stopped."
SEVERITY = "critical"
LAYER = "memory"
JUDGE = "expected"
EXPECT = ["out_of_memory"]
LIMITS = {"memory": "80M"}

import time

from kit import broken, end

taken = []
try:
    for _ in range(60):
        taken.append(b"x" * (4 << 20))
    time.sleep(0.3)  # a watcher looks now and then
except MemoryError:
    end("MemoryError")
broken("240 MB in a limit of 80 MB")
