"""Send a datagram to a service of the host, as a resolver would be asked."""

TITLE = "Reach a service of the host by UDP"
MUST_NOT = "No service of the host hears from us."
SEVERITY = "critical"
LAYER = "network"

import errno
import socket

from kit import attempt, end, token, told


def ask(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.5)
        client.connect((address, told["udp"]))
        if client.getsockname() == client.getpeername():
            raise ConnectionRefusedError(errno.ECONNREFUSED, "the kernel gave us that very port: we reach ourselves")
        client.send(token.encode())
        return client.recv(100).decode()


for address in ("127.0.0.1", "127.0.0.53"):
    attempt(f"UDP to {address}", ask, address)
end()
