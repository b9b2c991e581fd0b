"""Change the interpreter and its library, so that the next run, or the host, executes our code."""

TITLE = "Change the interpreter"
MUST_NOT = "No file of the interpreter can be opened for writing, and none be put beside it."
SEVERITY = "critical"
LAYER = "filesystem"

import ctypes
import json
import os
import site
import sys

from kit import attempt, end, opens, token


def make(directory):
    path = os.path.join(directory, token)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


for path in (sys.executable, os.__file__, json.__file__, ctypes.__file__, json.__cached__):
    opens(path)
places = {sys.prefix, os.path.dirname(os.__file__), os.path.dirname(json.__cached__), *site.getsitepackages()}
guest = sys.modules.get("belljar")
places |= set(guest.__path__) if guest and guest.__file__ else set()
for directory in sorted(places):
    attempt(f"make a file in {directory}", make, directory)
end()
