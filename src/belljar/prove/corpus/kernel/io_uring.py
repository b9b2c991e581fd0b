"""Do everything by io_uring, whose operations no filter sees."""

TITLE = "io_uring"
MUST_NOT = "No ring can be made."
SEVERITY = "high"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("io_uring_setup", 4, BAD)
reaches("io_uring_enter", -1, 0, 0, 0, 0, 0)
reaches("io_uring_register", -1, 0, 0, 0)
end()
