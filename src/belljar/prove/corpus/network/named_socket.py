"""Connect to a unix socket of the host by its path, straight and through /proc."""

TITLE = "Reach a named socket"
MUST_NOT = "No unix socket of the host can be connected to."
SEVERITY = "critical"
LAYER = "filesystem"

import os
import socket

from kit import attempt, end, token, told


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(path)
        client.sendall(token.encode())
        return client.recv(100).decode()


for before in ("", "/proc/1/root", f"/proc/{os.getppid()}/root", f"/proc/{told['victim']}/root"):
    attempt("connect", connect, before + told["socket"])
end()
