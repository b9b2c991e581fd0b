"""Walk to the files of the host through the root and working directories that /proc shows of every process."""

TITLE = "Leave by /proc/PID/root and cwd"
MUST_NOT = "No entry of /proc leads to a file outside."
SEVERITY = "critical"
LAYER = "processes"

import os

from kit import attempt, end, peek, told

pids = {"1", "self", "thread-self", str(os.getppid()), str(told["victim"]), str(told["caller"])}
pids |= {name for name in os.listdir("/proc") if name.isdigit()}
for pid in sorted(pids):
    for link in ("root", "cwd", "task/1/root"):
        peek(f"/proc/{pid}/{link}{told['file']}")
        peek(f"/proc/{pid}/{link}/../../../../../../../../..{told['file']}")
for pid in (told["victim"], told["caller"]):
    attempt(f"look at the root of {pid}", os.listdir, f"/proc/{pid}/root/")  # example path
end()
