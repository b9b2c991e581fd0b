"""Two runs pass a word by locks on a file that both can only read: a lock belongs to the file, not to who sees it."""

TITLE = "Talk by locks on shared files"
MUST_NOT = "A lock that one run has on a file of the system is not seen by another."
SEVERITY = "medium"
KNOWN = "full"
LAYER = "syscalls"
RUNS = "together"

import fcntl
import os
import time

from kit import broken, end, told

path = "/usr/bin/env"
fd = os.open(path, os.O_RDONLY)
until = time.monotonic() + 0.8
if told["turn"] == 1:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        broken("somebody outside holds a lock")
    except OSError:
        pass
    time.sleep(0.8)
while time.monotonic() < until:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(fd, fcntl.LOCK_UN)
    except BlockingIOError:
        broken(f"sees the lock of another run on {path}")
        break
    except OSError:
        break
    time.sleep(0.02)
end("no lock is seen")
