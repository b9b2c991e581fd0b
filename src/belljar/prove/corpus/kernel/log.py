"""Read the kernel's log, which tells addresses and devices, and what others did."""

TITLE = "Read the kernel's log"
MUST_NOT = "The log cannot be read."
SEVERITY = "high"
LAYER = "syscalls"

import os

from kit import BAD, end, opens, reaches

for action in (2, 3, 9, 10):
    reaches("syslog", action, BAD, 0)
for path in ("/dev/kmsg", "/proc/kmsg", "/var/log/dmesg", "/var/log/kern.log", "/var/log/syslog", "/var/log/journal"):
    opens(path, os.O_RDONLY)
end()
