"""Identity: user, group and supplementary groups of the calling process."""

import errno
import os


def become(uid: int, gid: int) -> bool:
    """Take this identity for good: groups, then gid, then uid, each read back.

    True when the supplementary groups are gone. False when the user namespace denies setgroups: they stay, as groups
    that mostly have no name inside, and count for access to the host's files. Anything else that fails raises.
    Clears the dumpable flag and the signal of `prctl.die_with_parent`.
    """
    dropped = _drop_groups()
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if os.getresgid() != (gid, gid, gid) or os.getresuid() != (uid, uid, uid) or (dropped and os.getgroups()):
        raise OSError(errno.EPERM, "the identity did not change", "setresuid")
    return dropped


def _drop_groups() -> bool:
    try:
        os.setgroups([])
    except PermissionError as error:
        if _setgroups_denied():
            return False
        error.filename = "setgroups"
        raise
    return True


def _setgroups_denied() -> bool:
    try:
        fd = os.open("/proc/self/setgroups", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # without /proc nobody can tell: then the refusal stands
    try:
        return os.read(fd, 16).strip() == b"deny"
    finally:
        os.close(fd)
