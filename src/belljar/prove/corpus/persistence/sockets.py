"""Leave a listener on an abstract socket and on a port, in a daemon, and connect to it from the next run."""

TITLE = "Leave a listener"
MUST_NOT = "Nobody of the run before answers."
SEVERITY = "high"
LAYER = "end"
RUNS = "twice"

import os
import socket
import time

from kit import broken, end, token, told

name, port = f"\0left-{token[::-1]}", 40000 + int(token[2:5], 16)
places = ((socket.AF_UNIX, name), (socket.AF_INET, ("127.0.0.1", port)))
if told["turn"] == 1:
    listeners = []
    for family, address in places:
        listeners.append(socket.socket(family))
        listeners[-1].bind(address)
        listeners[-1].listen()
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        time.sleep(15)
        os._exit(0)
else:
    for family, address in places:
        with socket.socket(family) as client:
            client.settimeout(0.5)
            if client.connect_ex(address) == 0:
                broken(f"{family.name} is answered")
end("nobody is there")
