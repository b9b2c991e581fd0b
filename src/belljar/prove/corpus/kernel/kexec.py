"""Load another kernel, from nowhere."""

TITLE = "kexec"
MUST_NOT = "kexec is refused before the kernel looks at its arguments."
SEVERITY = "critical"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("kexec_load", 0, 99, BAD, 1 << 40)
reaches("kexec_file_load", -1, -1, 0, BAD, 1 << 40)
end()
