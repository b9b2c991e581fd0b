"""The pure parts of linux/mounts.py and linux/namespaces.py."""

import ctypes

from tests.needs import need

from belljar.linux import mounts, namespaces
from belljar.linux.mounts import MountAttr, MountFlag, MountInfo, parse_mountinfo

LINES = """\
23 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
36 31 0:33 /a\\040b /mnt/with\\040space\\011tab\\134back ro,nosuid shared:5 master:2 - tmpfs a\\040source rw,size=1024k
40 23 0:41 / /odd\r rw - proc proc rw
"""


def test_mountinfo() -> None:
    assert parse_mountinfo(LINES) == [
        MountInfo(23, 1, "254:0", "/", "/", ("rw", "relatime"), ("shared:1",), "ext4", "/dev/vda", ("rw", "discard")),
        MountInfo(
            36,
            31,
            "0:33",
            "/a b",
            "/mnt/with space\ttab\\back",
            ("ro", "nosuid"),
            ("shared:5", "master:2"),
            "tmpfs",
            "a source",
            ("rw", "size=1024k"),
        ),
        MountInfo(40, 23, "0:41", "/", "/odd\r", ("rw",), (), "proc", "proc", ("rw",)),
    ]


def test_mountinfo_of_this_process() -> None:
    need("linux")
    assert any(point.target == "/" for point in mounts.mountinfo())


def test_sizes_of_structures() -> None:
    assert ctypes.sizeof(mounts._Attr) == 32
    assert ctypes.sizeof(namespaces._Ifreq) == 40


def test_numbers_that_differ_between_the_two_interfaces() -> None:
    assert (MountFlag.NOSYMFOLLOW, MountAttr.NOSYMFOLLOW) == (256, 0x200000)
    assert (MountFlag.NOATIME, MountAttr.NOATIME) == (1024, 0x10)


def test_namespaces_have_the_bits_that_the_filter_refuses() -> None:
    refused = 0
    for kind in namespaces.Namespace:
        refused |= kind if kind is not namespaces.Namespace.TIME else 0
    assert refused == 0x7E020000
