"""Mount: file systems of memory, /proc, binds, by the old call and by the new ones."""

TITLE = "Mount"
MUST_NOT = "Nothing can be mounted, by no call."
SEVERITY = "critical"
LAYER = "syscalls"

import ctypes

from kit import REFUSALS, end, reaches

MS_BIND, NOWHERE = 4096, b"/proc/self/nowhere"  # no such place: where mounting is allowed the kernel says ENOENT
WALL = REFUSALS
reaches("mount", b"none", NOWHERE, b"tmpfs", 0, None, stopped_by=WALL)
reaches("mount", b"/usr", b"/proc/self", None, MS_BIND, None, stopped_by=WALL)
reaches("mount", b"proc", b"/proc/self/fd", b"proc", 0, b"no-such-option", stopped_by=WALL)
reaches("fsopen", b"tmpfs", 1)
reaches("fspick", -100, b"/usr", 0)
reaches("open_tree", -100, b"/usr", 1)
reaches("move_mount", -1, b"", -1, b"", 4)
reaches("fsconfig", -1, 0, 0, 0, 0)
reaches("fsmount", -1, 0, 0)
reaches("mount_setattr", -1, b"", 0x1000, ctypes.byref((ctypes.c_uint64 * 4)()), 32)
end()
