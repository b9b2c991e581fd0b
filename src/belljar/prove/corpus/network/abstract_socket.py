"""Connect to an abstract unix socket of the host: it has no file that a root of our own would hide."""

TITLE = "Reach an abstract socket"
MUST_NOT = "No abstract socket of the host can be connected to."
SEVERITY = "critical"
LAYER = "network"

import socket

from kit import attempt, end, token, told


def connect(name):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(name)
        client.sendall(token.encode())
        return client.recv(100).decode()


attempt("connect", connect, "\0" + told["abstract"])
end()
