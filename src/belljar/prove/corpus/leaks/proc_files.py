"""Read what /proc tells of the whole machine beside its processes."""

TITLE = "Read /proc of the machine"
MUST_NOT = "/proc has processes of ours, and nothing of the machine."
SEVERITY = "medium"
LAYER = "filesystem"

import os

from kit import attempt, broken, end, read

for name in (
    "cmdline",
    "version",
    "meminfo",
    "cpuinfo",
    "stat",
    "interrupts",
    "partitions",
    "diskstats",
    "modules",
    "loadavg",
    "uptime",
    "swaps",
    "net/tcp",
    "net/unix",
    "sys/kernel/osrelease",
    "config.gz",
    "kallsyms",
    "buddyinfo",
    "zoneinfo",
    "locks",
    "devices",
    "keys",
    "pressure/cpu",
    "scsi/scsi",
    "sysvipc/shm",
    "mdstat",
    "vmstat",
    "crypto",
    "filesystems",
    "iomem",
    "ioports",
):
    attempt(f"read /proc/{name}", lambda name=name: bool(read(f"/proc/{name}", 100)))
names = {name for name in os.listdir("/proc") if not name.isdigit()} - {"self", "thread-self"}
if names:
    broken(f"/proc has {sorted(names)[:6]}")
end("processes only")
