"""Reserve disk without writing: by fallocate, by mapped files, and by files without a name."""

TITLE = "Reserve the disk"
MUST_NOT = "What is reserved counts as what is written."
SEVERITY = "high"
LAYER = "disk"
JUDGE = "bounded_disk"
LIMITS = {"disk": "8M"}

import os

from kit import say

kept = []
for place in (".", "/tmp", "/dev/shm"):
    for index in range(8):
        try:
            fd = os.open(place, os.O_TMPFILE | os.O_RDWR, 0o600)
        except OSError:
            continue
        kept.append(fd)
        for size in (6 << 20, 1 << 20):
            try:
                os.posix_fallocate(fd, os.fstat(fd).st_size, size)
            except OSError:
                pass
say(f"WRITTEN bytes {sum(os.fstat(fd).st_blocks * 512 for fd in kept)}")
