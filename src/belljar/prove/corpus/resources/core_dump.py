"""Crash, with as large a core dump as there may be."""

TITLE = "Dump core"
MUST_NOT = "No core is dumped, into no file of anybody."
SEVERITY = "medium"
JUDGE = "files_are_harmless"

import os
import resource
import signal

from kit import broken, say

soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
try:
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
except (OSError, ValueError):
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
if resource.getrlimit(resource.RLIMIT_CORE)[0]:
    broken("cores may be dumped")
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGSEGV)
status = os.waitpid(pid, 0)[1]
if os.WCOREDUMP(status):
    broken("a core was dumped")
say("PLANTED")
