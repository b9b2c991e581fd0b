"""Open files until somebody says no."""

TITLE = "Use up descriptors"
MUST_NOT = "No more descriptors are open than the limit."
SEVERITY = "medium"
LAYER = "open files"
LIMITS = {"open_files": 64}

import os
import resource

from kit import broken, end

try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    broken("the limit was raised")
except (OSError, ValueError):
    pass
opened = 0
try:
    while opened < 2000:
        os.open("/dev/null", os.O_RDONLY)
        opened += 1
except OSError as error:
    end(f"{opened}: {error.strerror}")
broken(f"{opened} descriptors in a limit of 64")
