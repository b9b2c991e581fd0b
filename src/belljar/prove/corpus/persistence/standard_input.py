"""Change flags of standard input and lock it, and look in the next run whether it is as it was left."""

TITLE = "Leave flags on stdin"
MUST_NOT = "Standard input is a new one in each run."
SEVERITY = "medium"
LAYER = "processes"
RUNS = "twice"

import fcntl
import os

from kit import broken, end, told

F_SETSIG, F_GETSIG = 10, 11
if told["turn"] == 1:
    fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
    fcntl.fcntl(0, F_SETSIG, 37)
    fcntl.flock(0, fcntl.LOCK_EX | fcntl.LOCK_NB)
else:
    if fcntl.fcntl(0, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND):
        broken("the flags are still there")
    if fcntl.fcntl(0, F_GETSIG) == 37:
        broken("the signal is still there")
    try:
        fcntl.flock(os.open("/dev/null", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        broken("the lock is still held")
end("as new")
