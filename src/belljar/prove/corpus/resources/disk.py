"""Write files until there is no room, in every place that can be written."""

TITLE = "Fill the disk"
MUST_NOT = "All writable places together hold no more than the limit."
SEVERITY = "critical"
LAYER = "disk"
JUDGE = "bounded_disk"
LIMITS = {"disk": "8M"}

import os

from kit import say

block, total = os.urandom(1 << 18), 0
for place in (".", "/tmp", "/dev/shm", "/jar", "/var/tmp", "/run", "/run/lock"):
    for index in range(8):
        try:
            fd = os.open(os.path.join(place, f"fill-{index}"), os.O_CREAT | os.O_WRONLY, 0o600)
            for _ in range(40):
                total += os.write(fd, block)
        except OSError:
            continue
say(f"WRITTEN bytes {total}")
for place in (".", "/tmp", "/dev/shm", "/jar", "/var/tmp", "/run", "/run/lock"):
    for index in range(8):
        try:
            os.unlink(os.path.join(place, f"fill-{index}"))
        except OSError:
            pass
