"""seccomp(2): load filters. bpf/NAME.toml says what each refuses; scripts/seccomp makes the programs of it."""

import ctypes
import errno
import os
from typing import NamedTuple

from belljar.linux.libc import MACHINE, number, syscall

_SECCOMP = number("seccomp")

SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_TSYNC = 1
_FOLDER = os.path.join(os.path.dirname(__file__), "bpf")


class Mode(NamedTuple):
    """What /proc says of a process: 0 none, 1 strict, 2 filtered."""

    mode: int
    filters: int


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(program: bytes) -> None:
    """Put a filter (an array of struct sock_filter) on every thread, for good. Needs no_new_privs or CAP_SYS_ADMIN."""
    argument = _Program(len(program) // 8, program)
    thread = syscall(_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, ctypes.byref(argument))
    if thread:
        raise OSError(errno.EBUSY, f"thread {thread} has other filters", "seccomp")


def mode(pid: int | str = "self") -> Mode:
    """Whether `pid` is filtered, and by how many filters (0 before Linux 5.9, which does not say)."""
    fields = {"Seccomp": 0, "Seccomp_filters": 0}
    with open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            name, _, value = line.partition(b":")
            if name.startswith(b"Seccomp"):
                fields[name.decode()] = int(value)
    return Mode(fields["Seccomp"], fields["Seccomp_filters"])


def load(name: str, machine: str = MACHINE) -> bytes:
    """The committed program of a filter for a machine; FileNotFoundError where there is none."""
    with open(os.path.join(_FOLDER, f"{name}.{machine}.bpf"), "rb") as file:
        return file.read()


def denied_names(name: str = "cell") -> dict[str, str]:
    """What a filter refuses, for documentation: call, and the answer it gets ("EPERM", or "EPERM (some arguments)")."""
    import tomllib

    with open(os.path.join(_FOLDER, f"{name}.toml"), "rb") as file:
        table = tomllib.load(file)
    found = {call: answer for answer, calls in table["refused"].items() for call in calls}
    for rule in table["argument"]:
        for call in rule["calls"]:
            found.setdefault(call, f"{rule['answer']} (some arguments)")
    return dict(sorted(found.items()))
