"""Look for whole trees of the host: what is at the top, and in the places where services keep their data."""

TITLE = "See the trees of services"
MUST_NOT = "No directory of the host is seen beside the system's programs and the interpreter."
SEVERITY = "high"
LAYER = "filesystem"

import os
import sys

from kit import broken, end

for place in (
    "/var",
    "/srv",
    "/opt",
    "/mnt",
    "/media",
    "/boot",
    "/run",
    "/sys",
    "/lost+found",
    "/var/run",
    "/var/lib",
    "/var/log",
):
    try:
        names = os.listdir(place)
    except OSError:
        continue
    if names and not any(prefix.startswith(place + "/") for prefix in (sys.prefix, sys.base_prefix)):
        broken(f"{place} has {', '.join(names[:4])}")
end("not there")
