"""Make segments of our own and take the machine's ports: calls of old processors, and a record of mistakes."""

TITLE = "Segments and ports"
MUST_NOT = "modify_ldt, iopl and ioperm are refused."
SEVERITY = "medium"
LAYER = "syscalls"
MACHINE = "x86_64"

from kit import BAD, end, reaches

reaches("modify_ldt", 1, BAD, 16)
reaches("modify_ldt", 0x11, BAD, 16)
reaches("modify_ldt", 0, BAD, 16)
reaches("iopl", 3)
reaches("ioperm", 0x80, 1, 1)
end()
