"""Read a file of the host by its path, and what is next to it."""

TITLE = "Read a file of the host"
MUST_NOT = "Nothing of a host file that the run was not given is read."
SEVERITY = "critical"
LAYER = "filesystem"

import os

from kit import attempt, end, peek, told

peek(told["file"])
attempt("list its directory", os.listdir, told["directory"])
attempt("stat", os.stat, told["file"])
end()
