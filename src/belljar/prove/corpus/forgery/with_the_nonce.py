"""Find the guest's channel in our own memory, and say with its nonce that we were rejected, and have started again."""

TITLE = "Forge claims with the nonce"
MUST_NOT = "A program that ran and failed is not reported as one that did not compile, or as one that went well."
SEVERITY = "high"
JUDGE = "outcome_is_ours"
EXPECT = ["failed"]

import gc
import os

from kit import say

say("TRIED")
for thing in gc.get_objects() + [
    value for frame in [__import__("sys")._getframe()] for value in gc.get_referrers(frame)
]:
    if type(thing).__name__ == "Channel":
        for kind, content in (
            ("rejected", {"error": {"type": "SyntaxError", "message": "FORGED"}}),
            ("started", True),
            ("answer", {"value": "FORGED"}),
            ("exit", {"status": 0}),
            ("outcome", "ok"),
            ("files", {"x": "FORGED"}),
        ):
            thing.claim(kind, content)
frame = __import__("sys")._getframe()
while frame:
    channel = frame.f_locals.get("channel")
    if channel is not None:
        channel.claim("rejected", {"error": {"type": "SyntaxError", "message": "FORGED"}})
        channel.claim("answer", {"value": 1, "outcome": "ok", "exit_code": 0})
    frame = frame.f_back
os._exit(4)
