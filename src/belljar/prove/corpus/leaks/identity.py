"""Find out which machine this is: its name, its ids, its serial numbers, how it was started."""

TITLE = "Identify the host"
MUST_NOT = "Neither the name nor an id of the host is seen."
SEVERITY = "medium"
LAYER = "filesystem"
JUDGE = "not_the_hosts"

import os
import platform
import socket

from kit import end, read, say

say(f"VALUE hostname={platform.node()}")
say(f"VALUE hostname={socket.gethostname()}")
for name, path in (
    ("hostname", "/etc/hostname"),
    ("machine-id", "/etc/machine-id"),
    ("machine-id", "/var/lib/dbus/machine-id"),
    ("boot-id", "/proc/sys/kernel/random/boot_id"),
    ("cmdline", "/proc/cmdline"),
    ("hostname", "/proc/sys/kernel/hostname"),
    ("serial", "/sys/class/dmi/id/product_uuid"),
    ("serial", "/sys/class/dmi/id/product_serial"),
):
    try:
        say(f"VALUE {name}={read(path).strip()}")
    except OSError:
        pass
for line in open("/etc/hosts") if os.path.exists("/etc/hosts") else ():
    for word in line.split()[1:]:
        say(f"VALUE hostname={word}")
end("none of them")
