"""Leave files with our mark in every place that can be written: the host looks for them."""

TITLE = "Leave files on the host"
MUST_NOT = "Nothing of a run is on the host when it is over."
SEVERITY = "critical"
LAYER = "filesystem"

import os

from kit import end, token

for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock"):
    try:
        os.mkdir(os.path.join(place, f"{token}.d"))
    except OSError:
        pass
end("all goes with the cell")
