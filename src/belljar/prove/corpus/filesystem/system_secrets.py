"""Read the files in which a system keeps its passwords and keys."""

TITLE = "Read /etc/shadow and its like"
MUST_NOT = "No password or key file of the host is read."
SEVERITY = "critical"
LAYER = "filesystem"

import glob

from kit import attempt, end, read

PLACES = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssh/ssh_host_*_key",
    "/etc/ssl/private/*",
    "/etc/krb5.keytab",
    "/etc/NetworkManager/system-connections/*",
    "/var/lib/cloud/instance/user-data.txt",
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
    "/run/secrets/*",
)
for place in PLACES:
    for path in glob.glob(place) or [place]:
        attempt(f"read {path}", lambda path=path: bool(read(path)))
end()
