"""Leave a note in the inode of a file that all cells share, where a hint for its life time is kept."""

TITLE = "Leave hints in inodes"
MUST_NOT = "Nothing can be written into the inode of a file that is read-only."
SEVERITY = "medium"
LAYER = "syscalls"

import fcntl
import os
import struct
import sys

from kit import attempt, end

F_SET_RW_HINT, F_SET_FILE_RW_HINT = 1036, 1038
for path in (os.path.join(sys.prefix, "pyvenv.cfg"), os.path.realpath(sys.executable), "/usr/bin/env"):
    if os.path.exists(path):
        file = os.open(path, os.O_RDONLY)
        for command in (F_SET_RW_HINT, F_SET_FILE_RW_HINT):
            attempt(f"hint {command} in {path}", fcntl.fcntl, file, command, struct.pack("Q", 4))
end()
