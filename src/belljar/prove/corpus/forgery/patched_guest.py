"""Patch the guest that runs beside us: its exits, its channel, its streams, so that it tells and ends as we like."""

TITLE = "Patch the guest"
MUST_NOT = "Whatever the guest says, a program that ends by an error has failed."
SEVERITY = "high"
JUDGE = "outcome_is_ours"
EXPECT = ["failed", "crashed"]

import os
import sys

from kit import say

say("TRIED")
for name, module in list(sys.modules.items()):
    if name.startswith("belljar"):
        for attribute in ("exit_code", "tell", "leave", "describe", "reject"):
            if hasattr(module, attribute):
                setattr(module, attribute, lambda *_: 9)
sys.excepthook = lambda *_: None
real = os._exit
os._exit = lambda code: real(code or 9)
sys.exit(9)
