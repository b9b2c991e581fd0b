"""Take all inotify instances of our user: the kernel counts them by user, and ours may be the caller's."""

TITLE = "Use up the caller's watchers"
MUST_NOT = "The caller can still make an inotify instance."
SEVERITY = "medium"
LAYER = "identity"
JUDGE = "caller_not_starved"
DURING = "watch"
LIMITS = {"open_files": 1024}

import time

from kit import call, end

made = 0
try:
    while made < 600:
        call("inotify_init1", 0)
        made += 1
except OSError:
    pass
time.sleep(0.3)
end(f"{made} were made")
