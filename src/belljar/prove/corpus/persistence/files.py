"""Leave files in every place that can be written, and look for them in the next run."""

TITLE = "Leave files for the next run"
MUST_NOT = "No file of one run is there in the next."
SEVERITY = "critical"
LAYER = "filesystem"
RUNS = "twice"

import os

from kit import broken, end, token, told

name = token[::-1]  # not the token itself, so that the host's own look at /tmp stays apart from ours
for place in (
    ".",
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    "/jar",
    "/run",
    "/run/lock",
    os.path.expanduser("~"),
    "/usr/local",
    "/etc",
):
    path = os.path.join(place, f".{name}")
    if told["turn"] == 2:
        if os.path.exists(path):
            os.unlink(path)
            broken(f"{path} is still there")
    else:
        try:
            with open(path, "w") as file:
                file.write("left")
        except OSError:
            pass
end("all is new")
