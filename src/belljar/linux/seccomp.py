"""seccomp(2): load filters. bpf/NAME.toml says what each refuses; scripts/seccomp makes the programs of it."""

import ctypes
import errno
import fcntl
import os
import struct
from typing import NamedTuple

from belljar.linux.libc import MACHINE, number, syscall

_SECCOMP = number("seccomp")

SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_TSYNC = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 1 << 3  # Linux 5.0
SECCOMP_RET_ERRNO = 0x0005_0000
SECCOMP_RET_USER_NOTIF = 0x7FC0_0000
SECCOMP_IOCTL_NOTIF_RECV = 0xC050_2100
SECCOMP_IOCTL_NOTIF_SEND = 0xC018_2101
_RETURN = 0x06  # BPF_RET | BPF_K
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")  # id, pid, flags; and seccomp_data: number, machine, address, arguments
_ANSWER = struct.Struct("=QqiI")  # id, value, -errno, flags
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


def install_traced(program: bytes) -> int:
    """`install` for a process of one thread, with `traced(program)`; returns the descriptor that hears of refusals."""
    traced_program = traced(program)
    argument = _Program(len(traced_program) // 8, traced_program)
    return syscall(_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, ctypes.byref(argument))


def traced(program: bytes) -> bytes:
    """The same filter, but that it asks the listener wherever it would have answered with an errno."""
    instructions = []
    for code, jump_true, jump_false, value in struct.iter_unpack("<HBBI", program):
        if code == _RETURN and value & 0xFFFF_0000 == SECCOMP_RET_ERRNO:
            value = SECCOMP_RET_USER_NOTIF
        instructions.append(struct.pack("<HBBI", code, jump_true, jump_false, value))
    return b"".join(instructions)


def next_refusal(listener: int) -> tuple[int, int] | None:
    """The id and the call number of the next refusal; None when the one who made it has gone."""
    request = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, request)
    except FileNotFoundError:
        return None
    notification, _, _, number = _NOTIFICATION.unpack(request)[:4]
    return notification, number


def refuse(listener: int, notification: int, code: int) -> None:
    """Answer with this errno; nothing, when the one who asked has gone."""
    try:
        fcntl.ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, bytearray(_ANSWER.pack(notification, 0, -code, 0)))
    except FileNotFoundError:
        pass


def numbers(name: str, machine: str = MACHINE) -> dict[int, tuple[str, int]]:
    """What each call number that a filter may refuse is called, and the errno that it answers."""
    import json

    with open(os.path.join(_FOLDER, f"{name}.{machine}.json"), "rb") as file:
        return {int(number): (call, code) for number, (call, code) in json.load(file).items()}


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
