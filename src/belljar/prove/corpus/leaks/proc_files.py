"""Read what /proc tells of the whole machine, beside its processes and what programs need to know of it."""

TITLE = "Read /proc of the machine"
MUST_NOT = "/proc has processes of ours, and nothing of the machine but its processors, memory and load."
SEVERITY = "medium"
LAYER = "filesystem"

import os

from kit import attempt, broken, end, read

for name in (
    "cmdline",
    "interrupts",
    "partitions",
    "diskstats",
    "modules",
    "swaps",
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
told = {"cpuinfo", "loadavg", "meminfo", "stat", "uptime", "version"}  # what programs need of the machine
ours = {"mounts", "net", "self", "thread-self"}
for name in os.listdir("/proc"):
    path = f"/proc/{name}"
    if name.isdigit() or name in told | ours:
        continue
    try:
        found = os.listdir(path) if os.path.isdir(path) else read(path, 100)
    except OSError:
        continue
    if found:
        broken(f"{path} can be read")
end("processes, processors and memory only")
