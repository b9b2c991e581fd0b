"""Change the control groups that limit us: their files, or by mounting them anew."""

TITLE = "Lift limits by control groups"
MUST_NOT = "No control file of a control group can be opened for writing."
SEVERITY = "critical"
LAYER = "filesystem"

import os

from kit import end, opens, reaches

own = [line.rstrip("\n").split(":", 2)[1:] for line in open("/proc/self/cgroup")]
for kind, path in own:
    base = f"/sys/fs/cgroup/{kind.removeprefix('name=')}"
    for place in (f"{base}{path}", base, f"/sys/fs/cgroup{path}", f"/sys/fs/cgroup/unified{path}"):
        for name in (
            "cgroup.procs",
            "tasks",
            "memory.max",
            "memory.limit_in_bytes",
            "pids.max",
            "release_agent",
            "devices.allow",
        ):
            opens(os.path.join(place, name))
reaches("mount", b"cgroup", b"/proc/self/nowhere", b"cgroup", 0, b"memory")
reaches("mount", b"cgroup2", b"/proc/self/nowhere", b"cgroup2", 0, None)
end()
