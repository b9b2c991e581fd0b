"""Open files of the system for writing, without writing, and make new ones beside them."""

TITLE = "Write system files"
MUST_NOT = "No file of the system can be opened for writing, made or removed."
SEVERITY = "critical"
LAYER = "filesystem"

import os

from kit import attempt, end, opens, token


def make(directory):
    path = os.path.join(directory, token)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


for path in (
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/usr/bin/env",
    "/bin/sh",
    "/usr/lib/os-release",
    "/etc/nsswitch.conf",
    "/etc/crontab",
):
    opens(path)
for directory in (
    "/",
    "/etc",
    "/usr",
    "/usr/bin",
    "/usr/local/bin",
    "/usr/lib",
    "/bin",
    "/dev",
    "/proc",
    "/etc/ssl/certs",
    "/etc/ld.so.conf.d",
    "/etc/profile.d",
    "/var",
    "/home",
):
    attempt(f"make a file in {directory}", make, directory)
end()
