"""Find out numbers of the host: our own pid there, our user there, our group of processes, our control group."""

TITLE = "Learn numbers of the host"
MUST_NOT = "Neither pids nor control groups of the host are seen."
SEVERITY = "low"
LAYER = "processes"

import os
import socket
import struct

from kit import broken, end, status

if os.getpid() > 1000:
    broken(f"the pid is {os.getpid()}")
if len(status().get("NSpid", "1").split()) > 1:
    broken("NSpid shows more than one number")
for line in open("/proc/self/cgroup"):
    path = line.rstrip("\n").split(":", 2)[2]
    if path != "/":
        broken(f"the control group is {path}")
for fd in range(3, 64):
    try:
        peer = socket.socket(fileno=os.dup(fd)).getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    except OSError:
        continue
    pid = struct.unpack("iII", peer)[0]
    if pid > 1000:
        broken(f"the peer of {fd} has pid {pid}")
end("its own numbers")
