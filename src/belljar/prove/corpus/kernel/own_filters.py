"""Load filters and Landlock rules of our own that allow everything: they may add refusals, and never take one away."""

TITLE = "Loosen the filter by another"
MUST_NOT = "What was refused stays refused under filters and rules of our own."
SEVERITY = "critical"
LAYER = "syscalls"

import ctypes
import os
import struct

from kit import BAD, call, end, in_child, libc, note, opens, reaches


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def loosen():
    libc.prctl(38, 1, 0, 0, 0)
    try:
        fd = call("landlock_create_ruleset", ctypes.byref(ctypes.c_uint64((1 << 13) - 1)), 8, 0)
        root = os.open("/", os.O_PATH)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", (1 << 13) - 1, root))
        call("landlock_add_rule", fd, 1, rule, 0)
        call("landlock_restrict_self", fd, 0)
    except OSError as error:
        note(error)
    allow = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # return SECCOMP_RET_ALLOW
    for flags in (0, 1, 4):
        try:
            call("seccomp", 1, flags, ctypes.byref(Program(1, allow)))
        except OSError as error:
            note(error)
    reaches("bpf", 0, BAD, 0)
    reaches("ptrace", 0x4206, os.getppid(), 0, 0)
    opens("/usr/bin/env")
    opens("/etc/passwd")


in_child(loosen)
end()
