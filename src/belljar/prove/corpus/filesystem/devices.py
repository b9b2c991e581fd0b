"""Reach devices: memory, disks, the kernel's log, virtual machines, consoles."""

TITLE = "Open devices"
MUST_NOT = "There is no device but the harmless ones."
SEVERITY = "critical"
LAYER = "filesystem"

import os
import stat

from kit import broken, end, opens

HARMLESS = {"null", "zero", "full", "random", "urandom"}
for name in (
    "mem",
    "kmem",
    "port",
    "kmsg",
    "vda",
    "vda1",
    "sda",
    "nvme0n1",
    "dm-0",
    "loop0",
    "loop-control",
    "fuse",
    "kvm",
    "tty0",
    "tty1",
    "console",
    "net/tun",
    "mapper/control",
    "vhost-net",
    "vhost-vsock",
    "userfaultfd",
    "ptmx",
    "uinput",
    "hwrng",
):
    opens(f"/dev/{name}", os.O_RDONLY)
for folder, folders, names in os.walk("/dev"):
    for name in names:
        mode = os.lstat(os.path.join(folder, name)).st_mode
        if (stat.S_ISBLK(mode) or stat.S_ISCHR(mode)) and name not in HARMLESS:
            broken(f"there is {os.path.join(folder, name)}")
            break
end("only the harmless ones")
