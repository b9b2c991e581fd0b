"""Leave trees that are hard to walk and hard to remove: hundreds of levels, no rights on the way, open files."""

TITLE = "Trees that cannot be removed"
MUST_NOT = "The result comes at once, and nothing stays on the host."
SEVERITY = "medium"
JUDGE = "files_are_harmless"
LIMITS = {"wall": "3s"}

import os

from kit import say, token

for place in (".", "/tmp"):
    os.chdir(place)
    os.mkdir(f"deep-{token[::-1]}")
    os.chdir(f"deep-{token[::-1]}")
    for _ in range(220):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    with open("last", "w") as file:
        file.write("x")
    for _ in range(60):
        os.chmod(".", 0)
        try:
            os.chdir("..")
        except OSError:
            break
    os.chdir("/tmp")
say("PLANTED")
