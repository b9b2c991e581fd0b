"""Take the descriptors, the processors and the priority of the init away, which has our user."""

TITLE = "Bound the init of the cell"
MUST_NOT = "The limits and the scheduling of the init cannot be changed from inside."
SEVERITY = "high"
LAYER = "syscalls"

import os
import resource

from kit import BAD, attempt, end, reaches

NO_POLICY, NO_KIND = 99, 99
attempt("prlimit of 1", resource.prlimit, 1, resource.RLIMIT_NOFILE)
attempt("prlimit of the parent", resource.prlimit, os.getppid() or 1, resource.RLIMIT_CPU)
reaches("sched_setaffinity", 1, 8, BAD)
reaches("sched_setscheduler", 1, NO_POLICY, BAD)
reaches("setpriority", NO_KIND, 1, 19)
end()
