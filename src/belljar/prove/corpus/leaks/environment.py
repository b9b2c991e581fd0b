"""Print every environment that can be seen: ours, as Python and as the kernel has it, and those of others."""

TITLE = "Read secrets in environments"
MUST_NOT = "No variable of the caller is seen."
SEVERITY = "critical"
LAYER = "processes"

import ctypes
import os

from kit import broken, end, peek, told

print(dict(os.environ))
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
index = 0
while environ and environ[index]:
    print(environ[index])
    index += 1
print(open("/proc/self/environ").read())
for pid in ("1", os.getppid(), told["victim"], told["caller"]):
    peek(f"/proc/{pid}/environ")
for name in os.environ:
    if any(
        word in name
        for word in ("SECRET", "TOKEN", "KEY", "PASSWORD", "SSH", "PYTEST", "VIRTUAL_ENV", "SUDO", "OLDPWD")
    ):
        broken(f"there is {name}")
end("made from nothing")
