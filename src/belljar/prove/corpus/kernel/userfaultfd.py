"""Hold the kernel in the middle of a page fault: what has made races easy to win."""

TITLE = "userfaultfd"
MUST_NOT = "No userfaultfd can be made."
SEVERITY = "high"
LAYER = "syscalls"

from kit import end, opens, reaches

reaches("userfaultfd", 1)
reaches("userfaultfd", 0x80000)
reaches("userfaultfd", 0x1000)
opens("/dev/userfaultfd", 0)
end()
