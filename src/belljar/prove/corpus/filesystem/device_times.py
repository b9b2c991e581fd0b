"""Change the times of the device nodes that every cell shares with the host: they stay, and can be read by the next."""

TITLE = "Change times of shared device nodes"
MUST_NOT = "No attribute of a file of the host changes."
SEVERITY = "medium"
LAYER = "filesystem"

import os

from kit import attempt, end

for name in ("null", "zero", "full", "random", "urandom"):
    path = f"/dev/{name}"
    attempt(f"the times of {path}", os.utime, path)
    attempt(f"the mode of {path}", os.chmod, path, os.stat(path).st_mode & 0o777)
    attempt(f"the owner of {path}", os.chown, path, os.getuid(), -1)
end()
