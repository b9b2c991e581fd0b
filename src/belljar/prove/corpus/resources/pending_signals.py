"""Queue signals to ourselves and never take them: the kernel counts by user, and ours may be the caller's."""

TITLE = "Use up the caller's signals"
MUST_NOT = "The caller can still queue a signal."
SEVERITY = "medium"
LAYER = "identity"
JUDGE = "caller_not_starved"
DURING = "signal"

import os
import signal
import time

from kit import end, libc

signal.pthread_sigmask(signal.SIG_BLOCK, [40])
queued = 0
while queued < 400_000 and libc.sigqueue(os.getpid(), 40, None) == 0:
    queued += 1
time.sleep(0.3)
end(f"{queued} were queued")
