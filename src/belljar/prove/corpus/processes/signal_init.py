"""Send signals to the init of the cell: whoever ends it ends what watches us."""

TITLE = "Signal the init"
MUST_NOT = "The init of the cell cannot be signalled, stopped or ended."
SEVERITY = "critical"
LAYER = "paths"

import os
import signal

from kit import attempt, end

for pid in {1, os.getppid()} - {0}:
    for number in (0, signal.SIGCONT, signal.SIGURG):
        attempt(f"signal {number} to {pid}", os.kill, pid, number)
end()
