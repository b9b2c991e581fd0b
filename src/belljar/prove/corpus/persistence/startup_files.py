"""Leave what Python and shells execute when they start, and look whether they do in the next run."""

TITLE = "Leave start-up files"
MUST_NOT = "Nothing that one run has left is executed in the next."
SEVERITY = "critical"
LAYER = "filesystem"
RUNS = "twice"

import os
import site
import subprocess
import sys

from kit import broken, end, told

home = os.path.expanduser("~")
user = site.getusersitepackages()
write = "import os; os.write(2, b'EXECUTED')\n"
if told["turn"] == 1:
    for path, text in (
        (f"{user}/usercustomize.py", write),
        (f"{user}/x.pth", write),
        (f"{home}/.bashrc", "echo EXECUTED >&2\n"),
        (f"{home}/.profile", "echo EXECUTED >&2\n"),
        ("sitecustomize.py", write),
        ("json.py", write),
        (f"{home}/.pythonrc", write),
    ):
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        except OSError:
            pass
else:
    for words in ([sys.executable, "-c", "import json"], ["/bin/sh", "-lc", ":"], ["/bin/bash", "-ic", ":"]):
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
        if b"EXECUTED" in done.stderr:
            broken(f"{words[0]} has executed it")
end("none was executed")
