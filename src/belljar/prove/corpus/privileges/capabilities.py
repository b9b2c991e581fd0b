"""Count the capabilities that are left in any set."""

TITLE = "Have capabilities"
MUST_NOT = "No capability is in any set, and none can be added."
SEVERITY = "critical"
LAYER = "capabilities"

import ctypes

from kit import broken, end, libc, reaches, status

for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    if int(status()[name], 16):
        broken(f"{name} is {status()[name]}")
if any(libc.prctl(23, number, 0, 0, 0) == 1 for number in range(64)):  # PR_CAPBSET_READ
    broken("the bounding set is not empty")
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
data = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
reaches("capset", ctypes.byref(header), ctypes.byref(data))
for number in (7, 21):
    reaches("prctl", 47, 2, number, 0, 0)  # PR_CAP_AMBIENT, RAISE
reaches("prctl", 24, 21, 0, 0, 0)  # PR_CAPBSET_DROP needs a capability itself
end("all sets are empty")
