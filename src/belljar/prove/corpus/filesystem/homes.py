"""Look into the home directories of people, for their credentials and for anything at all."""

TITLE = "Read the homes of people"
MUST_NOT = "No file of somebody's home is seen, but where the interpreter itself is installed there."
SEVERITY = "critical"
LAYER = "filesystem"

import os
import sys

from kit import broken, end, peek

HOMES = ["/root", *(os.path.join("/home", name) for name in (os.listdir("/home") if os.path.isdir("/home") else ()))]
NAMES = (
    ".ssh/id_rsa",
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".bash_history",
    ".git-credentials",
    ".docker/config.json",
    ".kube/config",
    ".config/gcloud/credentials.db",
    ".pypirc",
    ".npmrc",
    ".pgpass",
)
ours = {os.path.realpath(place) for place in (sys.prefix, sys.base_prefix, sys.exec_prefix)} | {
    sys.prefix,
    sys.base_prefix,
}


def look(directory):
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        path = os.path.join(directory, name)
        if path in ours:
            continue
        if any(place.startswith(path + "/") for place in ours):
            look(path)
        else:
            broken(f"sees {path}")
            return


for home in HOMES:
    for name in NAMES:
        peek(os.path.join(home, name))
    look(home)
end("nothing but the interpreter")
