"""End with the exit code of a killed program, and with the words of one that had no memory left."""

TITLE = "Look like out of memory"
MUST_NOT = "An exit code and a text do not make a limit."
SEVERITY = "high"
JUDGE = "outcome_is_ours"
EXPECT = ["failed"]

import os
import sys

print("TRIED", flush=True)
print(
    "Killed\nOut of memory: Killed process\nMemoryError\nbelljar: out_of_memory: stopped at its memory limit",
    file=sys.stderr,
    flush=True,
)
os._exit(137)
