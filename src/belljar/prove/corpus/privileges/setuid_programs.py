"""Run the system's programs with the setuid bit, and look who they are while they wait for us."""

TITLE = "Run setuid programs"
MUST_NOT = "No program runs as somebody else."
SEVERITY = "critical"
LAYER = "no_new_privs"

import glob
import os
import stat
import subprocess

from kit import broken, end

found = 0
for path in glob.glob("/usr/bin/*") + glob.glob("/usr/sbin/*"):
    mode = os.lstat(path).st_mode
    if not stat.S_ISREG(mode) or not mode & 0o6000:
        continue
    found += 1
    if not os.statvfs(path).f_flag & os.ST_NOSUID:
        broken(f"{path} has the setuid bit on a mount that honours it")
        break
for path in ("/usr/bin/su", "/bin/su", "/usr/bin/newgrp", "/usr/bin/chsh"):
    if not os.path.exists(path):
        continue
    child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open(f"/proc/{child.pid}/status") as file:
            uids = next(line.split()[1:] for line in file if line.startswith("Uid"))
        if len(set(uids)) > 1 or "0" in uids:
            broken(f"{path} runs as {uids}")
    except OSError:
        pass
    child.kill()
    child.wait()
end(f"{found} of them, without effect")
