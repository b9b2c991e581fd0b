"""Make empty files and directories until nobody can make any more."""

TITLE = "Use up the inodes"
MUST_NOT = "Files and directories are counted, in all places together."
SEVERITY = "high"
LAYER = "disk"
JUDGE = "bounded_disk"
LIMITS = {"files": 200}

import os
import shutil

from kit import say

made = 0
for place in (".", "/tmp", "/dev/shm"):
    top = os.path.join(place, "many")
    try:
        os.mkdir(top)
        for index in range(400):
            os.mkdir(os.path.join(top, f"d{index}"))
            made += 1
            os.close(os.open(os.path.join(top, f"f{index}"), os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError:
        pass
for place in ("/tmp", "/dev/shm"):
    shutil.rmtree(os.path.join(place, "many"), ignore_errors=True)
say(f"WRITTEN files {made}")
