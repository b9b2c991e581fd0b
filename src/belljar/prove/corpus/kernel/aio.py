"""Set up asynchronous I/O of the old kind, which is counted for the whole machine."""

TITLE = "Take all asynchronous I/O"
MUST_NOT = "No context for asynchronous I/O can be set up."
SEVERITY = "medium"
LAYER = "syscalls"

import ctypes

from kit import end, reaches

context = ctypes.c_ulong()
reaches("io_setup", 1, ctypes.byref(context))
end()
