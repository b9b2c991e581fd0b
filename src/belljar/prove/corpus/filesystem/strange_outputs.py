"""Leave what is bad to collect: pipes, sockets, holes, depth, odd names, no rights, the setuid bit."""

TITLE = "Strange files in the output"
MUST_NOT = "Collecting ends soon, takes plain files within the limits, and gives nobody rights."
SEVERITY = "high"
JUDGE = "files_are_harmless"
LIMITS = {"wall": "4s"}

import os
import socket

from kit import say

os.mkfifo("pipe")
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
with open("hole", "wb") as file:
    try:
        file.truncate(1 << 40)
    except OSError:
        file.truncate(15 << 20)
for name in (b"bad-\xff\xfe", b"new\nline", b"\x1b[2J", b"-rf", b"..x", "zero\u200bwidth".encode(), b"a" * 255):
    with open(name, "wb") as file:
        file.write(b"x")
with open("rights", "wb") as file:
    file.write(b"#!/bin/sh\nid\n")
for mode in (0o7777, 0o4755):
    try:
        os.chmod("rights", mode)
    except OSError:
        pass
os.close(os.open("born-with", os.O_CREAT | os.O_WRONLY, 0o6777))
os.mkdir("locked")
with open("locked/inside", "w") as file:
    file.write("x")
os.chmod("locked", 0)
for _ in range(150):
    os.mkdir("d")
    os.chdir("d")
os.symlink(".", "self")
say("PLANTED")
