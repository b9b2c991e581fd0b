"""Make sockets of every family that there is: the rarely used ones have had the worst mistakes."""

TITLE = "Sockets of rare families"
MUST_NOT = "Only unix, IPv4, IPv6 and route sockets can be made."
SEVERITY = "high"
LAYER = "syscalls"

import socket

from kit import broken, end

USUAL = {1, 2, 10, 16}
got = []
for family in set(range(1, 64)) - USUAL:
    for kind in (1, 2, 3, 5):
        for protocol in (0, 1, 3):
            try:
                socket.socket(family, kind, protocol).close()
            except OSError:
                continue
            got.append(family)
if got:
    broken(f"families {sorted(set(got))}")
end("EAFNOSUPPORT")
