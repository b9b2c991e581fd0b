"""Change the root twice, with a working directory outside of it: the classic way out of a chroot."""

TITLE = "Leave by chroot and pivot_root"
MUST_NOT = "The root cannot be changed."
SEVERITY = "critical"
LAYER = "syscalls"

import os

from kit import attempt, call, end, in_child, reaches


def classic():
    os.mkdir("inner")
    attempt("chroot", call, "chroot", b"inner")
    reaches("pivot_root", b"/proc/self", b"/proc/self")


in_child(classic)
end()
