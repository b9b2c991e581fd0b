"""Leave links in the output: to files and directories of the host, to devices, and to each other."""

TITLE = "Links in the output"
MUST_NOT = "What the host collects holds nothing of its own files."
SEVERITY = "critical"
JUDGE = "files_are_harmless"

import os

from kit import say, told

os.symlink(told["file"], "link.txt")
os.symlink("/etc/passwd", "passwd.txt")
os.symlink("/", "everything")
os.symlink("../" * 20 + told["file"].lstrip("/"), "relative.txt")
os.symlink("loop", "loop")
os.mkdir("inside")
os.symlink("/etc", "inside/etc")
for source, name in (("/etc/passwd", "hard.txt"), (told["file"], "hard2.txt"), ("/usr/bin/env", "hard3")):
    try:
        os.link(source, name)
    except OSError:
        pass
with open("plain.txt", "w") as file:
    file.write("plain")
os.link("plain.txt", "second.txt")
os.rename("inside", "was")
os.symlink("/etc", "inside")
say("PLANTED")
