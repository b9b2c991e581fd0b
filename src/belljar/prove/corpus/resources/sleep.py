"""Do nothing, for longer than we may."""

TITLE = "Sleep beyond the end"
MUST_NOT = "A program is ended at its wall limit."
SEVERITY = "high"
JUDGE = "expected"
EXPECT = ["timed_out"]
LIMITS = {"wall": "400ms"}

import time

from kit import broken

try:
    time.sleep(20)
except KeyboardInterrupt:
    time.sleep(20)
broken("it slept on")
