"""Write the files by which the kernel is steered, and read those that show its memory."""

TITLE = "Steer the kernel by its files"
MUST_NOT = "No file that steers the kernel can be opened for writing, and none with its memory be read."
SEVERITY = "critical"
LAYER = "filesystem"

import os

from kit import end, opens

for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/fs/binfmt_misc/register",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
    "/sys/power/state",
    "/proc/irq/default_smp_affinity",
    "/proc/bus/pci/00",
    "/proc/acpi/wakeup",
    "/sys/fs/bpf",
    "/sys/kernel/debug/tracing/trace_pipe",
):
    opens(path)
for path in (
    "/proc/kcore",
    "/proc/kpageflags",
    "/proc/kpagecount",
    "/proc/kallsyms",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/keys",
    "/proc/key-users",
    "/proc/vmallocinfo",
    "/proc/slabinfo",
    "/sys/firmware/dmi/tables/DMI",
):
    opens(path, os.O_RDONLY)
end("not there")
