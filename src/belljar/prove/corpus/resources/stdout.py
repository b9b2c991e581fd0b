"""Print without an end, without a newline."""

TITLE = "Flood stdout"
MUST_NOT = "The host keeps no more than the limit, and counts the rest."
SEVERITY = "high"
JUDGE = "bounded_output"
LIMITS = {"output": "64K"}

import os

block = b"x" * 65536
for _ in range(600):
    os.write(1, block)
