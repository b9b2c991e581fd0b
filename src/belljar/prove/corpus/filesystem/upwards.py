"""Climb above the root: many .. , by working directory, by descriptor, and by descriptors that were left open."""

TITLE = "Climb above the root"
MUST_NOT = "No number of .. from any directory or descriptor leads to a file of the host."
SEVERITY = "critical"
LAYER = "filesystem"

import os
import stat

from kit import attempt, broken, end, peek, told

up = "../" * 40
for start in ("", "/", "/proc/self/cwd/", "/dev/shm/", "/workspace/", "/tmp/", "/jar/", "/proc/self/fd/../"):
    peek(start + up + told["file"].lstrip("/"))
for fd in range(3, 256):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISDIR(mode):
        broken(f"descriptor {fd} is a directory")
        attempt(
            "by a descriptor", lambda fd=fd: os.close(os.open(up + told["file"].lstrip("/"), os.O_RDONLY, dir_fd=fd))
        )
before = os.stat("/")
os.chdir("/")
for _ in range(40):
    os.chdir("..")
if (os.stat(".").st_dev, os.stat(".").st_ino) != (before.st_dev, before.st_ino):
    broken("the root has something above it")
end()
