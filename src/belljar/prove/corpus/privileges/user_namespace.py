"""Make a user namespace, in which one would have all capabilities again: by unshare, clone and clone3."""

TITLE = "Make a user namespace"
MUST_NOT = "No user namespace can be made, by any of the three calls."
SEVERITY = "critical"
LAYER = "syscalls"

import ctypes
import os

from kit import attempt, call, end, in_child

NEWUSER, SIGCHLD = 0x10000000, 17


def cloned(*args):
    pid = call(*args)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


in_child(lambda: attempt("unshare", call, "unshare", NEWUSER))
in_child(lambda: attempt("unshare, high bits", call, "unshare", NEWUSER | (1 << 40)))
attempt("clone", cloned, "clone", NEWUSER | SIGCHLD, 0, 0, 0, 0)
attempt("clone, high bits", cloned, "clone", NEWUSER | SIGCHLD | (1 << 40), 0, 0, 0, 0)
arguments = (ctypes.c_uint64 * 11)(NEWUSER, 0, 0, 0, SIGCHLD)
attempt("clone3", cloned, "clone3", ctypes.byref(arguments), 88)
end()
