"""List the people who have an account on the host."""

TITLE = "List the users of the host"
MUST_NOT = "No account of the host is seen."
SEVERITY = "low"
LAYER = "filesystem"
JUDGE = "not_the_hosts"

import grp
import os
import pwd

from kit import end, say

for entry in pwd.getpwall():
    say(f"VALUE user={entry.pw_name}")
for group in grp.getgrall():
    for name in group.gr_mem:
        say(f"VALUE user={name}")
for place in ("/home", "/var/mail", "/var/spool/cron/crontabs", "/run/user"):
    try:
        for name in os.listdir(place):
            say(f"VALUE user={name}")
    except OSError:
        pass
end("none of them")
