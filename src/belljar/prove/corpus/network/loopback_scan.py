"""Try every port of the loopback for anything that answers."""

TITLE = "Scan the loopback"
MUST_NOT = "Nobody listens there but ourselves."
SEVERITY = "high"
LAYER = "network"

import socket

from kit import broken, end, told

found = []
for port in {*range(1, 1200), 2375, 3306, 5432, 6379, 8000, 8080, 8888, 9000, 9090, 11211, 27017, told["tcp"]}:
    with socket.socket() as client:
        client.settimeout(0.2)
        if client.connect_ex(("127.0.0.1", port)) == 0 and client.getsockname() != client.getpeername():
            found.append(port)
if found:
    broken(f"ports {found} are open")
end("nobody is there")
