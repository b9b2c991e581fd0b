"""Set the clocks and names of the host, with arguments that it cannot take."""

TITLE = "Set clocks and names"
MUST_NOT = "Every such call is refused before the kernel looks at its arguments."
SEVERITY = "high"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("settimeofday", BAD, 0)
reaches("clock_settime", 0, BAD)
reaches("clock_adjtime", 0, BAD)
reaches("adjtimex", BAD)
reaches("sethostname", BAD, 5)
reaches("setdomainname", BAD, 5)
reaches("vhangup", stopped_by=frozenset({1, 38}))
end()
