"""Turn on accounting, swap and quotas, of files that are not there."""

TITLE = "Accounting, swap and quotas"
MUST_NOT = "Every such call is refused before the kernel looks at its arguments."
SEVERITY = "high"
LAYER = "syscalls"

from kit import BAD, end, reaches

NO_FILE = b"/proc/self/nowhere"
reaches("acct", NO_FILE)
reaches("swapon", NO_FILE, 0)
reaches("swapoff", NO_FILE)
reaches("quotactl", 0x800007 << 8, NO_FILE, 0, BAD)
end()
