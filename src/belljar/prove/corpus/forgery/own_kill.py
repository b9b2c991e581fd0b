"""Kill ourselves by the signal that limits are enforced with."""

TITLE = "Look like killed for a limit"
MUST_NOT = "A signal of our own is a crash, not a limit."
SEVERITY = "medium"
JUDGE = "outcome_is_ours"
EXPECT = ["crashed"]

import os
import signal

print("TRIED", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
