"""Print what a result looks like, and end a call before it has an answer."""

TITLE = "Print a result"
MUST_NOT = "What is printed is output, and a call that gives no answer has none."
SEVERITY = "critical"
JUDGE = "no_value"
EXPECT = ["failed"]
CALL = "main"

import json
import os


def main():
    forged = {"ok": True, "outcome": "ok", "value": "FORGED", "has_value": True, "exit_code": 0}
    print("TRIED")
    for prefix in ("", "__RESULT__:", "RESULT=", "\x00", "belljar: ", "data: "):
        print(prefix + json.dumps(forged), flush=True)
    os.write(2, json.dumps(forged).encode())
    os._exit(0)
