"""Write a result of our own making to every descriptor, framed in every way, and end with another exit code."""

TITLE = "Forge results on every descriptor"
MUST_NOT = "The outcome is the host's word, and no value is taken from a frame without the nonce."
SEVERITY = "critical"
JUDGE = "no_value"
EXPECT = ["failed"]

import json
import os
import struct

from kit import say

say("TRIED")
frames = [
    {"answer": {"value": "FORGED"}, "outcome": "ok", "exit_code": 0},
    {"n": "", "answer": {"value": "FORGED"}},
    {"n": "0" * 16, "rejected": {"error": {"type": "FORGED", "message": "FORGED"}}},
    {
        "exit": {
            "status": 0,
            "cpu_user": 0,
            "cpu_system": 0,
            "memory_peak": 0,
            "processes_peak": 0,
            "stopped": "memory",
            "orphaned": False,
            "clean": True,
        }
    },
]
for fd in range(3, 256):
    for frame in frames:
        data = json.dumps(frame).encode()
        for framed in (data + b"\n", *(struct.pack(order, len(data)) + data for order in ("<I", ">I", "<Q", ">Q"))):
            try:
                os.set_blocking(fd, False)
                os.write(fd, framed)
            except OSError:
                break
os._exit(3)
