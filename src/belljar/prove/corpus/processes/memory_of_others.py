"""Read the memory, maps, environment and descriptors of the init and of processes outside."""

TITLE = "Read the memory of the init"
MUST_NOT = "Nothing of another process is read."
SEVERITY = "critical"
LAYER = "processes"

import ctypes
import os

from kit import BAD, attempt, end, reaches, read, told

for pid in {"1", str(os.getppid()), str(told["victim"]), str(told["caller"])} - {"0"}:
    for name in ("maps", "environ", "auxv", "stack", "syscall", "cmdline", "status", "io", "mountinfo"):
        attempt(f"{name} of {pid}", read, f"/proc/{pid}/{name}")
    for name in ("mem", "pagemap"):
        attempt(f"{name} of {pid}", lambda path=f"/proc/{pid}/{name}": os.close(os.open(path, os.O_RDWR)))
    for name in ("fd", "task", "map_files", "ns"):
        attempt(f"{name} of {pid}", os.listdir, f"/proc/{pid}/{name}")
    for name in ("process_vm_readv", "process_vm_writev"):
        reaches(name, int(pid), ctypes.c_void_p(BAD), 1, ctypes.c_void_p(BAD), 1, 0)
end()
