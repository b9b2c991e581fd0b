"""Leave daemons behind: forked twice, in sessions of their own, deaf to signals, and holding our output open."""

TITLE = "Leave daemons behind"
MUST_NOT = "No process outlives its run, and the result does not wait for one."
SEVERITY = "critical"
LAYER = "end"
JUDGE = "nothing_left"
LIMITS = {"wall": "3s"}

import ctypes
import os
import signal
import time

from kit import say, token

ctypes.CDLL(None).prctl(15, token.encode(), 0, 0, 0)
started, starts = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        os.write(starts, b"x")
        time.sleep(20)
        os._exit(0)
got = b""
while len(got) < 6:
    got += os.read(started, 6)
say("STARTED")
