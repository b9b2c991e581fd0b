"""Talk to the machine that runs this machine: vsock does not care for network namespaces."""

TITLE = "Reach the hypervisor by vsock"
MUST_NOT = "No vsock can be made."
SEVERITY = "critical"
LAYER = "syscalls"

import socket

from kit import attempt, end, reaches

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    attempt(f"vsock of kind {kind}", lambda kind=kind: socket.socket(40, kind, 0).close())
reaches("socket", 40 | (1 << 32), 1, 0)
end()
