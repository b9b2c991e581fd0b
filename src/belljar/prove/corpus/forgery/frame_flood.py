"""Send more claims than anybody could want, for as long as we may."""

TITLE = "A flood of claims"
MUST_NOT = "The run ends in time, as the host says."
SEVERITY = "medium"
JUDGE = "outcome_is_ours"
EXPECT = ["timed_out", "failed"]
LIMITS = {"wall": "1s"}

import sys

from kit import say

say("TRIED")
frame = sys._getframe()
while frame and "channel" not in frame.f_locals:
    frame = frame.f_back
while frame:
    frame.f_locals["channel"].claim("started", True)
    frame.f_locals["channel"].claim("answer", {"value": 1})
sys.exit(7)
