"""Try all calls that are newer than anybody has reviewed, and numbers that no kernel has."""

TITLE = "New and unknown calls"
MUST_NOT = "Every one is unknown here."
SEVERITY = "medium"
LAYER = "syscalls"

import errno

from kit import broken, call, end

known = []
for number in (*range(451, 640), 1 << 20, (1 << 31) - 1):
    try:
        call(number, -1, -1, -1, -1, -1, -1)
    except OSError as error:
        if error.errno == errno.ENOSYS:
            continue
    known.append(number)
if known:
    broken(f"the kernel knows {known[:12]}")
end("ENOSYS")
