"""Make raw and packet sockets, which see and forge what others send."""

TITLE = "Raw and packet sockets"
MUST_NOT = "No raw or packet socket can be made."
SEVERITY = "high"
LAYER = "syscalls"

import socket

from kit import attempt, end


def make(*kind):
    socket.socket(*kind).close()


for name, kind in {
    "raw ICMP": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "raw UDP": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP),
    "raw IPv6": (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    "raw with flags": (socket.AF_INET, socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 255),
    "packet": (socket.AF_PACKET, socket.SOCK_RAW, 3),
    "packet, cooked": (socket.AF_PACKET, socket.SOCK_DGRAM, 3),
    "old packet": (socket.AF_INET, 10, 3),
}.items():
    attempt(name, make, *kind)
end()
