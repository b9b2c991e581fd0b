"""Give a file capabilities, or a setuid bit by a call that a filter may have forgotten, and run it."""

TITLE = "Give files capabilities"
MUST_NOT = "No file can be given capabilities, and no setuid bit of ours has an effect."
SEVERITY = "high"
LAYER = "capabilities"

import os
import shutil
import struct
import subprocess

from kit import attempt, broken, end

shutil.copy("/bin/cat", "own")
value = struct.pack("<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
attempt("security.capability", os.setxattr, "own", "security.capability", value)
attempt("trusted.x", os.setxattr, "own", "trusted.x", b"x")
try:
    os.chmod("own", 0o6755)
except OSError:
    pass
if not os.statvfs(".").f_flag & os.ST_NOSUID:
    broken("the mount honours setuid bits")
text = subprocess.run(["./own", "/proc/self/status"], capture_output=True, text=True).stdout
if "CapEff:\t0000000000000000" not in text:
    broken("a program runs with capabilities")
end()
