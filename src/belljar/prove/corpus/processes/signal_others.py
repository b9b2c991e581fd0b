"""Send signals to processes outside: one that we were told of, our parent, and every number there is."""

TITLE = "Signal processes of the host"
MUST_NOT = "No process outside can be signalled."
SEVERITY = "critical"
LAYER = "processes"

import os

from kit import attempt, end, told

# Signal 0 only asks whether we might.
for pid in (told["victim"], told["caller"]):
    attempt(f"signal {pid}", os.kill, pid, 0)
    attempt(f"a descriptor for {pid}", lambda pid=pid: os.close(os.pidfd_open(pid)))
    attempt(f"its group {pid}", os.killpg, pid, 0)
attempt("signal everybody", os.kill, -1, 0)
mine = os.getpid()
for pid in range(2, 40000):
    if pid != mine:
        try:
            os.kill(pid, 0)
        except OSError:
            continue
        attempt(f"signal {pid}", os.kill, pid, 0)
        break
end()
