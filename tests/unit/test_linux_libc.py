"""The numbers of linux/libc.py, and how a call fails."""

import errno
import os
import re
from pathlib import Path

import pytest
from tests.needs import need

from belljar.linux import libc, prctl

X86_64 = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")]
GENERIC = [Path("/usr/include/asm-generic/unistd.h")]


@pytest.mark.parametrize(("column", "places"), [(0, X86_64), (1, GENERIC)], ids=["x86_64", "aarch64"])
def test_numbers_are_those_of_the_kernel_headers(column: int, places: list[Path]) -> None:
    header = next((path for path in places if path.exists()), None)
    if header is None:
        pytest.skip("needs the kernel headers (linux-libc-dev)")
    defined = {
        name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    }
    assert defined
    for name, numbers in libc.NUMBERS.items():
        assert defined[name] == numbers[column], name


def test_failure_names_the_call() -> None:
    need("linux")
    with pytest.raises(OSError, match="setns") as caught:
        libc.syscall(libc.number("setns"), -1, 0)
    assert (caught.value.errno, caught.value.filename) == (errno.EBADF, "setns")


def test_unknown_call() -> None:
    need("linux")
    with pytest.raises(OSError, match=r"syscall\(-1\)") as caught:
        libc.syscall(-1)
    assert caught.value.errno == errno.ENOSYS


def test_prctl_fails_with_its_option() -> None:
    need("linux")
    with pytest.raises(OSError, match=r"prctl\(12345\)") as caught:
        prctl.prctl(12345)
    assert caught.value.errno == errno.EINVAL


def test_prctl_name() -> None:
    need("linux")
    comm = Path(f"/proc/self/task/{os.getpid()}/comm")
    before = comm.read_text()[:-1]
    try:
        prctl.name("a name that is too long")
        assert comm.read_text() == "a name that is \n"
    finally:
        prctl.name(before)
