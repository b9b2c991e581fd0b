"""Files on their way in and out of a cell."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from belljar.errors import UsageError
from belljar.output import OutputFile
from belljar.quantities import format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from belljar.limits import Limits
    from belljar.request import InputFile

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DEEPEST = 32
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Input:
    """An input file, opened or in memory, with its size as it will be sent."""

    name: str
    size: int
    mode: int
    data: bytes | None
    fd: int | None = None

    def blocks(self) -> Iterator[bytes]:
        """The content, exactly `size` bytes of it."""
        if self.data is not None:
            yield self.data
            return
        assert self.fd is not None
        for offset in range(0, self.size, _BLOCK):
            block = os.pread(self.fd, min(_BLOCK, self.size - offset), offset)
            yield block.ljust(min(_BLOCK, self.size - offset), b"\0")  # it shrank while we read it

    def equals(self, data: bytes) -> bool:
        """Whether `data` is just this content."""
        return len(data) == self.size and b"".join(self.blocks()) == data


def open_inputs(files: Mapping[str, InputFile], limits: Limits) -> list[Input]:
    """Open what a request brings; a mistake in it shows before anything has started."""
    inputs: list[Input] = []
    try:
        for name, content in files.items():
            inputs.append(_open_input(name, content))
        total = sum(file.size for file in inputs)
        if total > limits.disk:
            raise UsageError.about(
                "files",
                format_size(total),
                f"at most what limits.disk allows ({format_size(limits.disk)}) in all",
            )
    except BaseException:
        close_inputs(inputs)
        raise
    return inputs


def close_inputs(inputs: Iterable[Input]) -> None:
    """Close what `open_inputs` has opened."""
    for file in inputs:
        if file.fd is not None:
            os.close(file.fd)


def _open_input(name: str, content: InputFile) -> Input:
    if isinstance(content, str):
        content = content.encode()
    if isinstance(content, bytes):
        return Input(name, len(content), 0o644, content)
    try:
        fd = os.open(content, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError.about(f"files[{name!r}]", os.fspath(content), f"a file to read ({reason})") from error
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise UsageError.about(f"files[{name!r}]", os.fspath(content), "a regular file")
    return Input(name, status.st_size, 0o755 if status.st_mode & 0o100 else 0o644, None, fd)


@dataclass(frozen=True, slots=True)
class Collection:
    """What a run left: the files, the bytes that they hold on disk, and the limits that cut it short."""

    files: dict[str, OutputFile]
    total: int
    hit: frozenset[str] = frozenset()


def collect(workspace: int, inputs: Iterable[Input], limits: Limits) -> Collection:
    """Read what a run left in its workspace, when all of it is dead."""
    walk = _Walk(inputs, limits)
    walk.enter(workspace, "", 0)
    return Collection(walk.files, walk.total, frozenset(walk.hit))


def full(workspace: int) -> set[str]:
    """The limits that the filesystem of a workspace has run into: no block is left, or no inode."""
    space = os.statvfs(workspace)
    return {name for name, free in (("disk", space.f_bavail), ("files", space.f_favail)) if not free}


class _Walk:
    """Takes regular files only, in bounds.

    Links, pipes, sockets and devices are passed over, and files with a second name: nothing is read by path.
    """

    def __init__(self, inputs: Iterable[Input], limits: Limits) -> None:
        self.files: dict[str, OutputFile] = {}
        self.hit: set[str] = set()
        self.total = 0
        self._inputs = {file.name: file for file in inputs}
        self._limits = limits
        self._room = limits.disk
        self._seen = 0

    def enter(self, directory: int, prefix: str, depth: int) -> None:
        room = self._limits.files - self._seen
        with os.scandir(directory) as entries:
            names = [entry.name for entry in islice(entries, room + 1)]
        if len(names) > room:
            self.hit.add("files")
        for name in sorted(names[:room]):
            if self._seen >= self._limits.files:
                self.hit.add("files")
                return
            self._seen += 1
            try:
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    self._descend(directory, name, prefix, depth)
                elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                    self._take(directory, name, prefix + name)
            except PermissionError:
                continue  # the run took our right to read it: it does not want to hand it out

    def _descend(self, directory: int, name: str, prefix: str, depth: int) -> None:
        if depth + 1 >= _DEEPEST:
            return
        below = os.open(name, _DIRECTORY, dir_fd=directory)
        try:
            self.enter(below, f"{prefix}{name}/", depth + 1)
        finally:
            os.close(below)

    def _take(self, directory: int, name: str, path: str) -> None:
        fd = os.open(name, _FILE, dir_fd=directory)
        try:
            status = os.fstat(fd)
            self.total += status.st_blocks * 512
            if status.st_size > self._room:
                self.hit.add("disk")
                return
            data = _read_all(fd, status.st_size)
        finally:
            os.close(fd)
        given = self._inputs.get(path)
        if (given is not None and given.equals(data)) or not _is_utf8(path):
            return
        self._room -= len(data)
        mode = 0o755 if status.st_mode & 0o100 else 0o644
        self.files[path] = OutputFile(name=path, data=data, mode=mode)


def _read_all(fd: int, size: int) -> bytes:
    blocks = []
    while size > 0 and (block := os.read(fd, min(_BLOCK, size))):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
