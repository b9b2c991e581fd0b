"""Take memory in System V segments, which belong to nobody: attach, fill, let go."""

TITLE = "Fill the memory by System V segments"
MUST_NOT = "Segments count as memory: three times the limit is stopped."
SEVERITY = "high"
KNOWN = "rootless"
LAYER = "memory"
JUDGE = "expected"
EXPECT = ["out_of_memory"]
LIMITS = {"memory": "80M"}

import ctypes
import time

from kit import broken, call, end, libc

libc.shmat.restype = ctypes.c_void_p
size, taken, ids = 10 << 20, 0, []
try:
    for _ in range(24):
        ids.append(call("shmget", 0, size, 0o1600))
        address = libc.shmat(ids[-1], None, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            end("it cannot be attached")
        ctypes.memset(address, 1, size)
        libc.shmdt(ctypes.c_void_p(address))
        taken += size
    time.sleep(0.3)
except OSError as error:
    end(error)
finally:
    if taken == 24 * size:
        broken(f"{taken >> 20} MB in a limit of 80 MB")
    for one in ids:
        libc.shmctl(one, 0, None)
