"""Start threads until somebody says no."""

TITLE = "Thread bomb"
MUST_NOT = "Threads count as processes."
SEVERITY = "high"
LAYER = "process count"
JUDGE = "expected"
EXPECT = ["over_limit"]
LIMITS = {"processes": 24}

import threading
import time

from kit import broken, end

threading.stack_size(65536)
try:
    for _ in range(120):
        threading.Thread(target=time.sleep, args=(1.5,), daemon=True).start()
    time.sleep(0.5)
except RuntimeError as error:
    end(error)
broken("120 threads in a limit of 24")
