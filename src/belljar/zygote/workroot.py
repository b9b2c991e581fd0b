"""The directory below which every cell of one keeper has its own, and what removes it whatever is inside."""

import fcntl
import os
import re
import stat

PREFIX = "belljar-cells-"
_NAME = re.compile(PREFIX + "[0-9a-f]{16}")
_FS_IOC_SETFLAGS = 0x40086602
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkRoot:
    """`BASE/belljar-cells-RANDOM/`, locked while its keeper lives: a later one sweeps what a killed one left."""

    def __init__(self, base: str) -> None:
        name = f"{PREFIX}{os.urandom(8).hex()}"
        self.path = os.path.join(base, name)
        # It gets its name when it is locked already: with it, and without a lock, it would look like a dead one.
        early = os.path.join(base, f".{name}")
        os.mkdir(early, 0o700)
        self._fd = os.open(early, _DIRECTORY)
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(early, self.path)

    def make(self, cell: str) -> str:
        """Make the directories of a cell; returns its path."""
        for name in (cell, f"{cell}/workspace", f"{cell}/tmp"):
            os.mkdir(name, 0o700, dir_fd=self._fd)
        return self.path_of(cell)

    def path_of(self, cell: str) -> str:
        """The directory of a cell."""
        return os.path.join(self.path, cell)

    def remove(self, cell: str) -> None:
        """Remove all that a cell left. Nothing in it may be alive any more."""
        remove_tree(self._fd, cell)

    def close(self) -> None:
        """Remove everything, the directory itself last."""
        for name in os.listdir(self._fd):
            self.remove(name)
        os.rmdir(self.path)
        os.close(self._fd)


def sweep(base: str) -> None:
    """Remove the work roots in `base` whose keeper was killed before it could: ours, and with a free lock."""
    for name in os.listdir(base):
        path = os.path.join(base, name)
        if not _NAME.fullmatch(name) or not _is_own_directory(path):
            continue
        try:
            fd = os.open(path, _DIRECTORY)
        except OSError:
            continue  # another keeper was faster
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for cell in os.listdir(fd):
                remove_tree(fd, cell)
            os.rmdir(path)
        except OSError:
            continue  # in use, or not removable: the next keeper tries again
        finally:
            os.close(fd)


def remove_tree(root: int, name: str) -> None:
    """Remove `name` below the directory `root`, however deep and whatever its modes.

    Directories are first moved up into `root`, so that no depth needs more than two descriptors or a long path.
    """
    waiting = [name]
    while waiting:
        name = waiting.pop()
        try:
            fd = os.open(name, _DIRECTORY, dir_fd=root)
        except NotADirectoryError:  # or a link
            os.unlink(name, dir_fd=root)
            continue
        except PermissionError:
            os.chmod(name, 0o700, dir_fd=root)
            fd = os.open(name, _DIRECTORY, dir_fd=root)
        try:
            for entry in os.listdir(fd):
                waiting += _take_out(fd, entry, root)
        finally:
            os.close(fd)
        os.rmdir(name, dir_fd=root)


def _take_out(directory: int, entry: str, root: int) -> list[str]:
    try:
        return _move_or_unlink(directory, entry, root)
    except PermissionError:
        _make_ours(directory, entry)
        return _move_or_unlink(directory, entry, root)


def _move_or_unlink(directory: int, entry: str, root: int) -> list[str]:
    try:
        os.unlink(entry, dir_fd=directory)
        return []
    except IsADirectoryError:
        moved = f"moved-{os.urandom(8).hex()}"
        os.rename(entry, moved, src_dir_fd=directory, dst_dir_fd=root)
        return [moved]


def _make_ours(directory: int, entry: str) -> None:
    """Take away what keeps an entry from being removed: flags that only root can set, and modes."""
    _clear_flags(directory)
    os.fchmod(directory, 0o700)
    status = os.stat(entry, dir_fd=directory, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
        return
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(entry, flags, dir_fd=directory)
    except PermissionError:
        os.chmod(entry, 0o700, dir_fd=directory)
        fd = os.open(entry, flags, dir_fd=directory)
    _clear_flags(fd)
    os.fchmod(fd, 0o700)
    os.close(fd)


def _clear_flags(fd: int) -> None:
    try:
        fcntl.ioctl(fd, _FS_IOC_SETFLAGS, b"\0" * 8)
    except OSError:
        pass  # no such flags on this filesystem, or not ours to clear: the removal itself will tell


def _is_own_directory(path: str) -> bool:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
