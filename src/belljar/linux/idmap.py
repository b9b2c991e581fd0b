"""User namespaces for idmapped mounts: a map of ids with nobody in it."""

import os
import signal
from collections.abc import Sequence

from belljar.linux.namespaces import Map, Namespace, fork_into, write_maps


def userns_fd(uid_map: Sequence[Map], gid_map: Sequence[Map]) -> int:
    """A descriptor of a new user namespace with these maps, for `mount_setattr(userns_fd=...)`.

    With an idmapped mount (Linux 5.12; tmpfs 6.3) the first number of a line is the id on disk, the second one the id
    that the mount shows.
    """
    hold, release = os.pipe()
    try:
        pid = fork_into(Namespace.USER)
        if pid == 0:
            os.close(release)
            os.read(hold, 1)  # also ends when the parent does
            os._exit(0)
        try:
            write_maps(pid, uid_map, gid_map)
            return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    finally:
        os.close(hold)
        os.close(release)
