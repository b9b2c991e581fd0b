"""Masks and structures of linux/landlock.py."""

import ctypes
import re
from pathlib import Path

import pytest

from belljar.linux import landlock
from belljar.linux.landlock import AccessFs, AccessNet, Scope, fs_rights, net_rights, scopes

HEADER = Path("/usr/include/linux/landlock.h")


@pytest.mark.parametrize(
    ("abi", "newest", "net", "scoped"),
    [
        (1, AccessFs.MAKE_SYM, 0, 0),
        (2, AccessFs.REFER, 0, 0),
        (3, AccessFs.TRUNCATE, 0, 0),
        (4, AccessFs.TRUNCATE, 3, 0),
        (5, AccessFs.IOCTL_DEV, 3, 0),
        (6, AccessFs.IOCTL_DEV, 3, 3),
        (7, AccessFs.IOCTL_DEV, 3, 3),
        (99, AccessFs.IOCTL_DEV, 3, 3),
    ],
)
def test_what_each_version_knows(abi: int, newest: AccessFs, net: int, scoped: int) -> None:
    assert fs_rights(abi) == newest * 2 - 1
    assert net_rights(abi) == net
    assert scopes(abi) == scoped


def test_no_landlock_knows_nothing() -> None:
    assert not fs_rights(0)
    assert not net_rights(0)
    assert not scopes(0)


def test_sizes_of_structures() -> None:
    assert ctypes.sizeof(landlock._RulesetAttr) == 24
    assert ctypes.sizeof(landlock._PathAttr) == 12
    assert ctypes.sizeof(landlock._PortAttr) == 16


def test_values_are_those_of_the_kernel_header() -> None:
    if not HEADER.exists():
        pytest.skip("needs the kernel headers (linux-libc-dev)")
    defined = dict(re.findall(r"#define\s+LANDLOCK_(\w+)\s+\(1ULL << (\d+)\)", HEADER.read_text()))
    ours: dict[str, int] = {f"ACCESS_FS_{right.name}": right for right in AccessFs}
    ours |= {f"ACCESS_NET_{right.name}": right for right in AccessNet}
    ours |= {f"SCOPE_{right.name}": right for right in Scope}
    known = set(defined) & set(ours)
    assert "ACCESS_FS_EXECUTE" in known
    assert all(ours[name] == 1 << int(defined[name]) for name in known)
