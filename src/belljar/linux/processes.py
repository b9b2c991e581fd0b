"""Processes as a proc filesystem shows them: who descends from whom, and what they use."""

import os
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


_proc: str | int = "/proc"


class Sample(NamedTuple):
    """What a set of processes uses at one moment."""

    processes: int
    memory: int
    cpu: float


def look_in(proc: int) -> None:
    """Look from now on in the proc filesystem whose root is open as `proc`, whatever is mounted on /proc."""
    global _proc  # one for a process, as /proc itself is
    _proc = proc


def children(pid: int) -> list[int]:
    """The processes whose parent is `pid`, by any of its threads."""
    found: list[int] = []
    try:
        for task in _list(f"{pid}/task"):
            found += map(int, _read(f"{pid}/task/{task}/children").split())
    except FileNotFoundError:
        # The process is gone, or the kernel lacks CONFIG_PROC_CHILDREN.
        return _children_by_stat(pid) if _stat(pid) else found
    except ProcessLookupError:
        pass
    return found


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, parents before their children."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def parent(pid: int) -> int | None:
    """The parent of `pid`, None when there is no such process."""
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def sample(pids: list[int], ceiling: int | None = None) -> Sample:
    """Measure `pids` together. Over `ceiling`, pages that they share are counted once, which costs more."""
    memory, cpu, alive = 0, 0.0, 0
    for pid in pids:
        fields = _stat(pid)
        if not fields or fields[0] == b"Z":
            continue
        alive += int(fields[17])
        memory += int(fields[21]) * _PAGE
        cpu += sum(map(int, fields[11:15])) / _TICK
    if ceiling is not None and memory > ceiling:
        memory = sum(map(_proportional, pids))
    return Sample(alive, memory, cpu)


def _stat(pid: int) -> list[bytes]:
    """The fields of PID/stat after the name: state, ppid, ... ; empty when the process is gone."""
    try:
        return _read(f"{pid}/stat").rsplit(b") ", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _proportional(pid: int) -> int:
    try:
        text = _read(f"{pid}/smaps_rollup")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0
    for line in text.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _children_by_stat(pid: int) -> list[int]:
    everyone = [int(name) for name in _list(".") if name.isdigit()]
    return [other for other in everyone if parent(other) == pid]


def _list(path: str) -> list[str]:
    fd = _open(path, os.O_DIRECTORY)
    try:
        return os.listdir(fd)
    finally:
        os.close(fd)


def _read(path: str) -> bytes:
    fd = _open(path, 0)
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def _open(path: str, flags: int) -> int:
    flags |= os.O_RDONLY | os.O_CLOEXEC
    return os.open(path, flags, dir_fd=_proc) if isinstance(_proc, int) else os.open(f"{_proc}/{path}", flags)
