"""Take leases on files that we may only read: whoever wants to write them waits until we give them up."""

TITLE = "Hold up writers by leases"
MUST_NOT = "No lease can be had on a file of the host."
SEVERITY = "medium"
LAYER = "syscalls"

import fcntl
import glob
import os
import sys

from kit import attempt, end


def lease(path):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.fcntl(fd, 1024, fcntl.F_RDLCK)  # F_SETLEASE
        fcntl.fcntl(fd, 1024, fcntl.F_UNLCK)
    finally:
        os.close(fd)


places = ["/usr/bin/env", "/etc/ld.so.cache", os.__file__, os.path.realpath(sys.executable)]
for prefix in {sys.prefix, sys.base_prefix}:
    places += sorted(path for path in glob.glob(f"{prefix}/*") if os.path.isfile(path))[:4]
for path in places:
    attempt(f"a lease on {path}", lease, path)
end()
