"""Announce frames of any length, and fill the host's memory with what we then send."""

TITLE = "Frames without an end"
MUST_NOT = "The host reads on, drops what is too long, and ends the run in time."
SEVERITY = "high"
JUDGE = "no_value"
EXPECT = ["failed"]
LIMITS = {"wall": "3s"}

import os
import socket
import struct
import time

from kit import say

say("TRIED")
for fd in range(3, 64):
    try:
        link = socket.socket(fileno=os.dup(fd))
    except OSError:
        continue
    link.settimeout(0.5)
    try:
        link.sendall(struct.pack(">I", 0xFFFFFFFF))
        until = time.monotonic() + 1
        while time.monotonic() < until:
            link.sendall(b"[" * 65536)
    except OSError:
        pass
    link.close()  # or the loop finds this one too
os._exit(5)
