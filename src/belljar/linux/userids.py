"""The users that cells are on the host when root starts them: of a range far above what others give out.

Systemd, containers and most directory services stay below it. What this host names in its files is left alone.
"""

import os
from collections.abc import Iterator

FIRST = 1_900_000_000  # below the end of the signed numbers
BLOCK = 256
BLOCKS = 512
_NEEDED = 1 << 21 | 1 << 7 | 1 << 6  # CAP_SYS_ADMIN, SETUID, SETGID; read as text, to keep ctypes out of the caller


def can_be_given() -> bool:
    """Whether this is a root who may run processes as these users: not the one of a tame container or namespace."""
    if os.geteuid():
        return False
    held = next((int(line[1], 16) for line in _fields("/proc/self/status", None) if line[0] == "CapEff:"), 0)
    return held & _NEEDED == _NEEDED and all(map(_is_known, ("uid_map", "gid_map")))


def blocks() -> Iterator[int]:
    """The first id of each block that nobody has on this host."""
    taken = [*_named(), *_handed_on("/etc/subuid"), *_handed_on("/etc/subgid")]
    for base in range(FIRST, FIRST + BLOCKS * BLOCK, BLOCK):
        if not any(first < base + BLOCK and base < first + count for first, count in taken):
            yield base


def _is_known(name: str) -> bool:
    """Whether our user namespace has the whole range."""
    maps = [[int(number) for number in line] for line in _fields(f"/proc/self/{name}", None)]
    return any(first <= FIRST and first + count >= FIRST + BLOCKS * BLOCK for first, _, count in maps)


def _named() -> Iterator[tuple[int, int]]:
    for fields in _fields("/etc/passwd", ":"):
        yield from ((int(text), 1) for text in fields[2:4] if text.isdigit())


def _handed_on(path: str) -> Iterator[tuple[int, int]]:
    for fields in _fields(path, ":"):
        if len(fields) == 3 and fields[1].isdigit() and fields[2].isdigit():
            yield int(fields[1]), int(fields[2])


def _fields(path: str, separator: str | None) -> list[list[str]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.strip().split(separator) for line in file if line.strip()]
    except FileNotFoundError:
        return []
