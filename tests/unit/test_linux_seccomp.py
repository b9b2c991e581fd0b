"""What the committed programs answer, call by call: the programs themselves are run here, by a small interpreter."""

import ctypes
import errno
import importlib
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from belljar.linux import seccomp

ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
ALLOW = 0
HIGH = 0xDEAD_BEEF << 32
HEADERS = {
    "x86_64": [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")],
    "aarch64": [Path("/usr/include/asm-generic/unistd.h")],
}
SOCKET = {"x86_64": (41, 53), "aarch64": (198, 199)}
CLONE = {"x86_64": 56, "aarch64": 220}
IOCTL = {"x86_64": 16, "aarch64": 29}
PRCTL = {"x86_64": 157, "aarch64": 167}
PERSONALITY = {"x86_64": 135, "aarch64": 92}
FCHMOD = {"x86_64": 91, "aarch64": 52}
FCHMODAT = {"x86_64": 268, "aarch64": 53}
MKNODAT = {"x86_64": 259, "aarch64": 33}

machines = pytest.mark.parametrize("machine", sorted(ARCHITECTURE))


def answer(machine: str, number: int, *args: int, architecture: int | None = None) -> int:
    """The errno that the program gives, 0 when it allows."""
    arch = ARCHITECTURE[machine] if architecture is None else architecture
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, arch, 0, *args, *(0,) * (6 - len(args)))
    program = list(struct.iter_unpack("<HBBI", seccomp.load("cell", machine)))
    register: int = 0
    at = 0
    while True:
        code, yes, no, k = program[at]
        at += 1
        match code:
            case 0x20:
                register = struct.unpack_from("<I", data, k)[0]
            case 0x54:
                register &= k
            case 0x05:
                at += k
            case 0x15:
                at += yes if register == k else no
            case 0x25:
                at += yes if register > k else no
            case 0x35:
                at += yes if register >= k else no
            case 0x06:
                assert k == 0x7FFF0000 or k >> 16 == 5, "neither ALLOW nor ERRNO"
                return int(k & 0xFFFF)
            case _:
                raise AssertionError(f"instruction {code:#x}")


@machines
def test_refused_calls_and_no_others(machine: str) -> None:
    header = next((path for path in HEADERS[machine] if path.exists()), None)
    if header is None:
        pytest.skip("needs the kernel headers (linux-libc-dev)")
    numbers = {
        name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    }
    numbers.pop("syscalls", None)
    refused = {name: text for name, text in seccomp.denied_names().items() if "some" not in text}
    assert len(refused) > 60
    for name, number in numbers.items():
        # Zeros pass the comparisons of arguments, except where zero is not on the list.
        if name in ("socket", "socketpair", "personality"):
            continue
        expected = getattr(errno, refused[name]) if name in refused else ALLOW
        assert answer(machine, number) == (errno.ENOSYS if number > 450 else expected), name


@machines
@pytest.mark.parametrize("number", [451, 452, 457, 467, 600, 0x3FFFFFFF, 0x40000000 + 39, 0x40000000 + 272, -1])
def test_new_calls_and_x32_are_not_there(machine: str, number: int) -> None:
    assert answer(machine, number) == errno.ENOSYS


@machines
@pytest.mark.parametrize("architecture", [I386, ARM, 0])
@pytest.mark.parametrize("number", [0, 1, 20, 310, 449])
def test_other_architectures_are_not_there(machine: str, architecture: int, number: int) -> None:
    assert answer(machine, number, architecture=architecture) == errno.ENOSYS


@machines
def test_clone_refuses_each_namespace(machine: str) -> None:
    threads = 0x3D0F00
    assert answer(machine, CLONE[machine], threads) == ALLOW
    assert answer(machine, CLONE[machine], 0x1200011) == ALLOW
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        for rest in (17, threads, HIGH, 0x7E020000):
            assert answer(machine, CLONE[machine], bit | rest) == errno.EPERM, hex(bit | rest)


@machines
@pytest.mark.parametrize("which", [0, 1])
def test_socket_families(machine: str, which: int) -> None:
    number = SOCKET[machine][which]
    for family in (*range(64), 0xFFFFFFFF, 1 << 31):
        for kind in (1, 2):
            got = answer(machine, number, family, kind, 0)
            assert got == (ALLOW if family in (1, 2, 10, 16) else errno.EAFNOSUPPORT), family
    for family in set(range(64)) - {1, 2, 10, 16}:
        assert answer(machine, number, HIGH | family, 1, 0) == errno.EAFNOSUPPORT, family


@machines
@pytest.mark.parametrize("which", [0, 1])
def test_socket_kinds(machine: str, which: int) -> None:
    number = SOCKET[machine][which]
    flags = (0, 0o4000, 0o2000000, 0o2004000)
    for family in (2, 10):
        for flag in flags:
            assert [answer(machine, number, family, kind | flag, 6) for kind in (1, 2, 5)] == [ALLOW] * 3
            for high_family in (0, HIGH):
                for high_kind in (0, HIGH):
                    for kind in (3, 10):
                        got = answer(machine, number, family | high_family, kind | flag | high_kind, 1)
                        assert got != ALLOW, (family, kind, flag)
    assert answer(machine, number, 1, 3, 0) == ALLOW  # in AF_UNIX it means SOCK_DGRAM


@machines
def test_netlink_is_for_routes(machine: str) -> None:
    number = SOCKET[machine][0]
    for kind in (2, 3, 3 | 0o2000000):
        assert answer(machine, number, 16, kind, 0) == ALLOW
        for protocol in (*range(1, 32), 1 << 31):
            for high in (0, HIGH):
                assert answer(machine, number, 16, kind, protocol | high) == errno.EPROTONOSUPPORT
                assert answer(machine, number, 16 | HIGH, kind, protocol | high) != ALLOW


@machines
@pytest.mark.parametrize("high", [0, HIGH, 1 << 32, 0xFFFFFFFF << 32])
def test_low_half_decides(machine: str, high: int) -> None:
    for command in (0x5412, 0x541C):
        assert answer(machine, IOCTL[machine], high, command | high) == errno.EPERM
    assert answer(machine, IOCTL[machine], 0, 0x5401 | high) == ALLOW
    assert answer(machine, PRCTL[machine], 35 | high) == errno.EPERM
    assert answer(machine, PRCTL[machine], 38 | high) == ALLOW
    for mode in (0o4755, 0o2755, 0o6000):
        assert answer(machine, FCHMOD[machine], 0, mode | high) == errno.EPERM
        assert answer(machine, FCHMODAT[machine], 0, 0, mode | high) == errno.EPERM
    assert answer(machine, FCHMODAT[machine], 0, 0, 0o1777 | high) == ALLOW
    for kind, expected in {0o020000: 1, 0o060000: 1, 0o100000: 0, 0o010000: 0, 0o140000: 0, 0: 0}.items():
        assert answer(machine, MKNODAT[machine], 0, 0, kind | 0o666 | high) == expected


@machines
def test_personality_is_only_asked(machine: str) -> None:
    assert answer(machine, PERSONALITY[machine], 0xFFFFFFFF) == ALLOW
    for value in (0x40000, 0x400000, 0x1000004, 0xFFFFFFFE, 1 << 31):
        assert answer(machine, PERSONALITY[machine], value) == errno.EPERM


def test_old_calls_of_x86_64() -> None:
    assert answer("x86_64", 90, 0, 0o4755) == errno.EPERM  # chmod
    assert answer("x86_64", 90, 0, 0o755) == ALLOW
    assert answer("x86_64", 133, 0, 0o020666) == errno.EPERM  # mknod


def test_names_and_machines() -> None:
    names = seccomp.denied_names()
    assert names["clone3"] == "ENOSYS"
    assert names["unshare"] == "EPERM"
    assert names["ioctl"] == "EPERM (some arguments)"
    assert names["socket"] == "EAFNOSUPPORT (some arguments)"
    with pytest.raises(FileNotFoundError):
        seccomp.load("cell", "pdp11")


def test_committed_programs_are_those_of_the_table() -> None:
    try:
        importlib.import_module("pyseccomp")
    except (ImportError, RuntimeError, OSError) as error:
        pytest.skip(f"needs pyseccomp and libseccomp: {error}")
    version = ctypes.CDLL("libseccomp.so.2").seccomp_version
    version.restype = ctypes.POINTER(ctypes.c_uint * 3)
    if (found := tuple(version().contents)) != (2, 5, 4):
        pytest.skip(f"needs libseccomp 2.5.4, which orders the rules as committed; here is {found}")
    script = Path(__file__).parents[2] / "scripts/seccomp"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
