"""Leave something in a directory of the host in which everybody may write."""

TITLE = "Write into a directory of the host"
MUST_NOT = "No file appears on the host."
SEVERITY = "critical"
LAYER = "filesystem"

import os

from kit import attempt, end, opens, token, told

opens(told["file"])
for name in (token, f"../{token}"):
    attempt(
        "write into it", lambda name=name: os.close(os.open(os.path.join(told["box"], name), os.O_CREAT | os.O_WRONLY))
    )
attempt("make a directory", os.mkdir, os.path.join(told["box"], token + ".d"))
end()
