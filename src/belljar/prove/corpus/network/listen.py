"""Listen on all addresses: the host must not be able to walk into our trap."""

TITLE = "Be reached by the host"
MUST_NOT = "Nobody outside can connect to a listener inside."
SEVERITY = "high"
LAYER = "network"
JUDGE = "not_reached"
DURING = "knock"

import socket

from kit import end, told

server = socket.create_server(("0.0.0.0", told["knock"]))
server.settimeout(0.6)
try:
    server.accept()
    print("\nsomebody came", flush=True)
except TimeoutError:
    pass
end("nobody came")
