"""Two runs at the same time look for each other on the loopback, by abstract sockets, and by multicast."""

TITLE = "Meet another run"
MUST_NOT = "Two runs cannot talk to each other."
SEVERITY = "high"
LAYER = "network"
RUNS = "together"

import socket
import time

from kit import broken, end, token, told

mine, theirs = told["turn"], 3 - told["turn"]
ports = {1: 41001, 2: 41002}
server = socket.create_server(("127.0.0.1", ports[mine]), reuse_port=True)
nameless = socket.socket(socket.AF_UNIX)
nameless.bind(f"\0meet-{token[::-1]}-{mine}")
nameless.listen()
for _ in range(25):
    for family, address in (
        (socket.AF_INET, ("127.0.0.1", ports[theirs])),
        (socket.AF_UNIX, f"\0meet-{token[::-1]}-{theirs}"),
    ):
        with socket.socket(family) as client:
            client.settimeout(0.2)
            if client.connect_ex(address) == 0:
                broken(f"met by {family.name}")
    time.sleep(0.02)
end("nobody is there")
