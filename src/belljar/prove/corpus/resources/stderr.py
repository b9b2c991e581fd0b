"""Print on stderr without an end, from several processes at a time, bytes that are no text."""

TITLE = "Flood stderr"
MUST_NOT = "The host keeps no more than the limit, and counts the rest."
SEVERITY = "high"
JUDGE = "bounded_output"
LIMITS = {"output": "64K"}

import os

block = b"\xff\xfe\x1b[2J" * 10000
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        for _ in range(100):
            os.write(2, block)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
