"""Open files by their handle, past every path: the way that once led out of containers."""

TITLE = "Open files by handle"
MUST_NOT = "No file can be opened by its number in the file system."
SEVERITY = "critical"
LAYER = "syscalls"

import ctypes
import os
import struct

from kit import end, reaches

AT_FDCWD = -100
buffer = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 136)
mount = ctypes.c_int()
reaches("name_to_handle_at", AT_FDCWD, ctypes.c_char_p(b"/usr"), buffer, ctypes.byref(mount), 0)
root = os.open("/usr", os.O_RDONLY)
handle = ctypes.create_string_buffer(struct.pack("=IiII", 8, 1, 2, 0))
reaches("open_by_handle_at", root, handle, os.O_RDONLY)
end()
