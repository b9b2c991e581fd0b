"""Read in the list of mounts where the caller keeps what, and what else is mounted."""

TITLE = "Read host paths in the mounts"
MUST_NOT = "The mounts show nothing but the system and the interpreter."
SEVERITY = "low"
LAYER = "filesystem"

import os
import sys

from kit import broken, end, told

prefixes = {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
fine = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/etc",
    "/proc",
    "/dev",
    "/jar",
    "/workspace",
    "/tmp",
    "/null",
    "/zero",
    "/full",
    "/random",
    "/urandom",
    "/shm",
    "/stat",
    "/none//deleted",  # what covers parts of /proc
    "/nothing//deleted",
)
for line in open("/proc/self/mountinfo"):
    fields = line.split()
    root, target = fields[3], fields[4]
    above = next((place for place in told["roots"] if root.startswith(place + "/")), "")
    root = root.removeprefix(above)  # the subvolume or the container's directory that the host's root is
    for path in (root, target):
        if path == "/" or path in prefixes or (path.startswith(fine) and told["directory"] not in path):
            continue
        broken(f"the mounts show {path}")
    if fields[fields.index("-") + 1] not in (
        "tmpfs",
        "proc",
        "devtmpfs",
        "ext4",
        "xfs",
        "btrfs",
        "overlay",
        "zfs",
        "f2fs",
        "squashfs",
        "erofs",
    ):
        broken(f"there is a {fields[fields.index('-') + 1]}")
end("the system and the interpreter")
