"""Ask for a reboot with numbers that the kernel does not take: it checks whether we may before it looks at them."""

TITLE = "Reboot"
MUST_NOT = "A reboot is refused before the kernel looks at the request."
SEVERITY = "critical"
LAYER = "syscalls"

from kit import end, reaches

reaches("reboot", 0, 0, 0, 0)
reaches("reboot", 1, 2, 3, 0)
end()
