"""Ask the socket that was left to us who is at its other end, and take hold of that process by its descriptor."""

TITLE = "Take hold of the other end"
MUST_NOT = "The process behind our socket can be neither named, signalled nor entered."
SEVERITY = "high"
LAYER = "processes"

import fcntl
import os
import signal
import socket

from kit import BAD, attempt, broken, call, end

REFUSED = frozenset({1, 3, 10, 13, 22, 25, 38, 61, 66, 92})
for fd in range(3, 64):
    try:
        link = socket.socket(fileno=os.dup(fd))
        handle = link.getsockopt(socket.SOL_SOCKET, 77)  # SO_PEERPIDFD
    except OSError:
        continue
    attempt("signal it", signal.pidfd_send_signal, handle, 0, stopped_by=REFUSED)
    attempt("join it", call, "setns", handle, 0x40000000, stopped_by=REFUSED)
    attempt("its descriptors", call, "pidfd_getfd", handle, 0, 0, stopped_by=REFUSED)
    for number in range(1, 11):
        attempt(f"its namespace {number}", fcntl.ioctl, handle, (0xFF << 8) | number, 0, stopped_by=REFUSED)
    for line in open(f"/proc/self/fdinfo/{handle}"):
        if line.startswith("Pid:") and line.split()[1] not in ("0", "-1"):
            broken(f"its pid is {line.split()[1]}")
end("a process that is none of ours")
