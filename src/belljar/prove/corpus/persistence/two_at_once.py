"""Two runs at the same time look for each other in files, shared memory, processes and by queues."""

TITLE = "Find another run"
MUST_NOT = "Nothing of a run is seen by another that lives at the same time."
SEVERITY = "critical"
LAYER = "filesystem"
RUNS = "together"

import os
import time

from kit import broken, call, end, token, told

mine, theirs = told["turn"], 3 - told["turn"]
key = {turn: int(token[2:8], 16) + turn for turn in (1, 2)}
for place in (".", "/tmp", "/dev/shm", "/jar"):
    try:
        with open(f"{place}/meet-{token[::-1]}-{mine}", "w") as file:
            file.write("here")
    except OSError:
        pass
call("shmget", key[mine], 4096, 0o1666)
for _ in range(20):
    for place in (".", "/tmp", "/dev/shm", "/jar"):
        if os.path.exists(f"{place}/meet-{token[::-1]}-{theirs}"):
            broken(f"met in {place}")
    try:
        call("shmget", key[theirs], 0, 0)
        broken("met by a segment")
    except OSError:
        pass
    if len([name for name in os.listdir("/proc") if name.isdigit()]) > 1:
        broken("met in /proc")
        break
    time.sleep(0.02)
end("alone")
