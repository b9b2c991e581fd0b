"""Pass descriptors to the host, hundreds of them: it might run out, or use one."""

TITLE = "Pass descriptors to the host"
MUST_NOT = "The host takes no descriptor from us, and the run ends as it should."
SEVERITY = "medium"
JUDGE = "outcome_is_ours"
EXPECT = ["failed"]

import os
import socket

from kit import say

say("TRIED")
null = os.open("/dev/null", os.O_RDWR)
for fd in range(3, 64):
    try:
        link = socket.socket(fileno=os.dup(fd))
        link.setblocking(False)
        for _ in range(20):
            socket.send_fds(link, [b"x"], [null] * 100)
    except OSError:
        continue
os._exit(8)
