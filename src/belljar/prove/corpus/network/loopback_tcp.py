"""Connect to a service of the host on its loopback, by every name that it has."""

TITLE = "Reach a service of the host by TCP"
MUST_NOT = "No service of the host hears from us."
SEVERITY = "critical"
LAYER = "network"

import errno
import socket

from kit import attempt, end, token, told


def connect(family, address):
    with socket.socket(family) as client:
        client.settimeout(1)
        client.connect(address)
        if client.getsockname() == client.getpeername():
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the kernel gave us that very port: we reach ourselves")
        client.sendall(token.encode())
        return client.recv(100).decode()


for address in ("127.0.0.1", "127.1.2.3", "0.0.0.0", "localhost"):
    attempt(f"TCP to {address}", connect, socket.AF_INET, (address, told["tcp"]))
attempt("TCP by a mapped address", connect, socket.AF_INET6, ("::ffff:127.0.0.1", told["tcp"]))
end()
