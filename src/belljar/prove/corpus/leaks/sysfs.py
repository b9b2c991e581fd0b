"""Read in /sys which devices the host has."""

TITLE = "Read /sys"
MUST_NOT = "There is no /sys."
SEVERITY = "low"
LAYER = "filesystem"

import os

from kit import attempt, end

for place in (
    "/sys/class/net",
    "/sys/block",
    "/sys/devices/system/cpu",
    "/sys/firmware",
    "/sys/class/powercap",
    "/sys/fs/cgroup",
    "/sys/module",
):
    attempt(place, lambda place=place: bool(os.listdir(place)))
end("not there")
