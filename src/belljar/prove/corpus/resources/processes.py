"""Fork until somebody says no: a bomb with a fuse."""

TITLE = "Fork bomb"
MUST_NOT = "A run with four times its processes is stopped."
SEVERITY = "critical"
LAYER = "process count"
JUDGE = "expected"
EXPECT = ["over_limit"]
LIMITS = {"processes": 24}

import os
import time

from kit import broken, end

made = 0
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(1.5)
            os._exit(0)
        made += 1
    time.sleep(0.5)
except OSError as error:
    end(f"{made}: {error}")
broken("100 processes in a limit of 24")
