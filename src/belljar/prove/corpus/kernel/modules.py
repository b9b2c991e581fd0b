"""Load and unload modules of the kernel that do not exist."""

TITLE = "Kernel modules"
MUST_NOT = "Module calls are refused before the kernel looks at their arguments."
SEVERITY = "critical"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("init_module", BAD, 0, BAD)
reaches("finit_module", -1, BAD, 1 << 20)
reaches("delete_module", BAD, 0o4000)
end()
