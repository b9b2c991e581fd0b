"""Become root, or anybody else, by every call that changes users and groups."""

TITLE = "Change the user"
MUST_NOT = "User and groups stay what they are."
SEVERITY = "critical"
LAYER = "identity"

import ctypes
import os

from kit import attempt, broken, call, end, in_child

REFUSED = frozenset({1, 22})  # EPERM, and EINVAL for a user that this namespace has not
before = (os.getresuid(), os.getresgid(), os.getgroups())


def become():
    group = (ctypes.c_uint32 * 1)(0)
    for name, *args in (
        ("setuid", 0),
        ("setgid", 0),
        ("setreuid", 0, 0),
        ("setregid", 0, 0),
        ("setresuid", 0, 0, 0),
        ("setresgid", 0, 0, 0),
        ("setuid", 65534),
        ("setresuid", -1, 1, -1),
    ):
        attempt(name, call, name, *args, stopped_by=REFUSED)
    attempt("setgroups", call, "setgroups", 1, ctypes.byref(group), stopped_by=REFUSED)
    call("setfsuid", 0)
    if call("setfsuid", -1) == 0:
        broken("setfsuid: done")


in_child(become)
if 0 in before[0]:
    broken("it is root in its own namespace")
end()
