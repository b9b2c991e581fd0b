"""Get out: to any address of the network, the metadata service of a cloud, and by name."""

TITLE = "Reach the network outside"
MUST_NOT = "There is no interface but the loopback, and no way to any address."
SEVERITY = "critical"
LAYER = "network"

import errno
import socket

from kit import attempt, broken, end

NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EPERM, errno.EACCES, errno.EADDRNOTAVAIL})


def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.connect((address, 9))  # only asks for the way: nothing is sent


for address in ("192.0.2.1", "169.254.169.254", "10.0.0.1", "8.8.8.8", "224.0.0.1"):
    attempt(f"a way to {address}", send, socket.AF_INET, address, stopped_by=NO_WAY)
attempt("a way by IPv6", send, socket.AF_INET6, "2001:db8::1", stopped_by=NO_WAY)
others = [
    name
    for _, name in socket.if_nameindex()
    if name != "lo" and not name.startswith(("sit", "tunl", "gre", "ip6", "erspan", "ip_vti"))
]
if others:
    broken(f"interfaces {others}")
try:
    socket.getaddrinfo("example.com", 80)
    broken("a name was resolved")
except OSError:
    pass
end("only the loopback")
