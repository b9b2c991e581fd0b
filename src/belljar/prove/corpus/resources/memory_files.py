"""Take memory that no process has mapped: files that are only in memory, written and not looked at."""

TITLE = "Fill the memory by memfd"
MUST_NOT = "Files in memory count as memory: three times the limit is stopped."
SEVERITY = "high"
KNOWN = "rootless"
LAYER = "memory"
JUDGE = "expected"
EXPECT = ["out_of_memory"]
LIMITS = {"memory": "80M"}

import os
import time

from kit import broken, end

block = os.urandom(1 << 20)
written = 0
try:
    for index in range(24):
        fd = os.memfd_create(f"hidden{index}")
        for _ in range(10):
            written += os.write(fd, block)
    time.sleep(0.3)
except (OSError, MemoryError) as error:
    end(error)
broken(f"{written >> 20} MB in a limit of 80 MB")
