"""Make every other kind of namespace."""

TITLE = "Make other namespaces"
MUST_NOT = "No namespace of any kind can be made."
SEVERITY = "high"
LAYER = "syscalls"

import os

from kit import attempt, call, end, in_child

KINDS = {
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "time": 0x80,
}


def cloned(flags):
    pid = call("clone", flags | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


for name, flag in KINDS.items():
    in_child(lambda name=name, flag=flag: attempt(f"unshare {name}", call, "unshare", flag))
    if name != "time":
        attempt(f"clone {name}", cloned, flag)
end()
