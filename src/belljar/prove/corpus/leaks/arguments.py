"""Read the command lines of others, in which many a password stands."""

TITLE = "Read command lines of others"
MUST_NOT = "No command line of another process is read."
SEVERITY = "high"
LAYER = "processes"

import os

from kit import end, peek, told

for pid in {"1", str(os.getppid()), str(told["victim"]), str(told["caller"])} - {"0"}:
    for name in ("cmdline", "comm", "task/1/comm"):
        peek(f"/proc/{pid}/{name}")
end("not there")
