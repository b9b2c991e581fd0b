"""Look for files of others where everybody puts them."""

TITLE = "Find files of others"
MUST_NOT = "The common places hold nothing but ours."
SEVERITY = "high"
LAYER = "filesystem"

import os
import sys

from kit import broken, end, peek, told

for place in ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue", "/jar", "/jar/tmp", "/jar/shm"):
    try:
        names = os.listdir(place)
    except OSError:
        continue
    if place == "/jar":
        names = set(names) - {"workspace", "tmp", "shm", "stat", os.path.basename(sys.modules["__main__"].__file__)}
    # An interpreter that is installed below /tmp has to be shown there.
    names = {name for name in names if f"/tmp/{name}/" not in sys.prefix and f"/tmp/{name}/" not in sys.base_prefix}
    if names:
        broken(f"{place} has {sorted(names)[:4]}")
peek(told["shm"])
end("nothing there")
