"""Ask in a new thread, in a child, and after an exec for what was refused to the first thread."""

TITLE = "Lose the lock-down in a child"
MUST_NOT = "Threads, children and new programs are locked down as their parent is."
SEVERITY = "critical"
LAYER = "syscalls"

import subprocess
import sys
import threading

from kit import BAD, broken, end, in_child, reaches, status

KEPT = ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid")


def ask():
    reaches("bpf", 0, BAD, 0)
    reaches("unshare", 0x10000000 | 0x200)  # with CLONE_FS: a single thread may, several may not


thread = threading.Thread(target=reaches, args=("bpf", 0, BAD, 0))
thread.start()
thread.join()
in_child(ask)
show = "print(open('/proc/self/status').read())"
text = subprocess.run([sys.executable, "-I", "-S", "-c", show], capture_output=True, text=True).stdout
after = {key: value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}
for key in KEPT:
    if after.get(key) != status()[key]:
        broken(f"{key} is {after.get(key)} after an exec, and was {status()[key]}")
if after.get("Seccomp") != "2" or int(after.get("CapBnd", "1"), 16) or after.get("NoNewPrivs") != "1":
    broken("there is no lock-down")
end()
