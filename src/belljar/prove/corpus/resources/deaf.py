"""Be deaf to every signal, in many processes, in sessions of their own."""

TITLE = "Ignore the end"
MUST_NOT = "Deaf programs are ended at their wall limit, with all that they have started."
SEVERITY = "critical"
LAYER = "end"
JUDGE = "expected"
EXPECT = ["timed_out"]
LIMITS = {"wall": "400ms"}

import ctypes
import os
import signal
import time

from kit import broken, token

ctypes.CDLL(None).prctl(15, token.encode(), 0, 0, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for number in set(range(1, 65)) - {9, 19, 32, 33}:
    signal.signal(number, signal.SIG_IGN)
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        break
until = time.monotonic() + 20
while time.monotonic() < until:
    time.sleep(1)
broken("it was not ended")
