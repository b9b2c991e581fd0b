"""Close every descriptor, also the standard ones, and put others in their place."""

TITLE = "Close every descriptor"
MUST_NOT = "A run without descriptors still ends, as the host says."
SEVERITY = "medium"
JUDGE = "outcome_is_ours"
EXPECT = ["failed"]

import os

from kit import say

say("TRIED")
os.closerange(0, 256)
null = os.open("/dev/null", os.O_RDWR)
for fd in range(1, 20):
    os.dup2(null, fd)
os._exit(2)
