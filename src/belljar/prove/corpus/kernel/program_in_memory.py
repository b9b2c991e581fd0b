"""Run a program from memory, without a file that anybody could have checked: it is held by the same rules."""

TITLE = "Run a program from memory"
MUST_NOT = "A program of a memfd has no more rights than we."
SEVERITY = "medium"
LAYER = "syscalls"

import os
import shutil
import subprocess

from kit import broken, end

fd = os.memfd_create("program")
with open("/bin/cat", "rb") as source, os.fdopen(os.dup(fd), "wb") as target:
    shutil.copyfileobj(source, target)
text = subprocess.run(
    [f"/proc/self/fd/{fd}", "/proc/self/status"], pass_fds=[fd], capture_output=True, text=True
).stdout
found = {key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}
for key, wanted in (("CapEff", 0), ("CapBnd", 0), ("NoNewPrivs", 1), ("Seccomp", 2)):
    if key in found and int(found[key], 16) != wanted:
        broken(f"{key} is {found[key]}")
end("the same rules" if found else "it does not run at all")
