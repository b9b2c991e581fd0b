"""Make device nodes of our own: the kernel's memory and the disk, in every writable place."""

TITLE = "Make device nodes"
MUST_NOT = "No node of a device can be made, and none made would open."
SEVERITY = "critical"
LAYER = "syscalls"

import os
import stat

from kit import attempt, call, end, opens

DEVICES = {
    "mem": (stat.S_IFCHR, 1, 1),
    "kmsg": (stat.S_IFCHR, 1, 11),
    "disk": (stat.S_IFBLK, 254, 0),
    "disk2": (stat.S_IFBLK, 8, 0),
}
for place in (".", "/tmp", "/dev/shm", "/jar"):
    for name, (kind, major, minor) in DEVICES.items():
        path = os.path.join(place, f"node-{name}")
        attempt(f"{name} in {place}", os.mknod, path, kind | 0o666, os.makedev(major, minor))
        attempt(
            f"{name} in {place}, high bits",
            call,
            "mknodat",
            -100,
            path.encode() + b"2",
            kind | 0o666 | (1 << 32),
            os.makedev(major, minor),
        )
        for made in (path, path + "2"):
            if os.path.lexists(made):
                opens(made, os.O_RDONLY)
                os.unlink(made)
end()
