"""Use the x32 numbers of calls: the same door, with a bit that filters have overlooked."""

TITLE = "Calls by x32 numbers"
MUST_NOT = "No call with an x32 number is served."
SEVERITY = "high"
LAYER = "syscalls"
MACHINE = "x86_64"

import errno
import os

from kit import BAD, broken, call, end

for name, number, *args in (
    ("getpid", 39),
    ("unshare", 272, 0),
    ("bpf", 321, 0, BAD, 0),
    ("ptrace", 521, 0, 0, 0, 0),
    ("openat", 257, -100, BAD, 0, 0),
):
    try:
        call(number | 0x40000000, *args)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            broken(f"{name}: {error}")
    else:
        broken(f"{name} was served")
# Above 32 bits the number is what is below: the kernel and a filter must agree.
try:
    if call(39 | (1 << 32)) != os.getpid():
        broken("an odd answer")
    call(272 | (1 << 32), 0x10000000)
    broken("unshare behind 32 bits")
except OSError:
    pass
end("ENOSYS")
