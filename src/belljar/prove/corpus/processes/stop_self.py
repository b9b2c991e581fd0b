"""Stop ourselves: who waits for us to end waits long."""

TITLE = "Stop and be waited for"
MUST_NOT = "A stopped program is ended at its wall limit."
SEVERITY = "high"
LAYER = "end"
JUDGE = "expected"
EXPECT = ["timed_out"]
LIMITS = {"wall": "500ms"}

import os
import signal

from kit import broken

os.kill(os.getpid(), signal.SIGSTOP)
broken("it goes on")
