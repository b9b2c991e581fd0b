"""libc, and system calls by number: what Python has no function for."""

import ctypes
import os

MACHINE = os.uname().machine

# Name: number on x86_64, on aarch64. tests/unit/test_linux_libc.py compares it with the kernel's headers.
NUMBERS = {
    "capget": (125, 90),
    "capset": (126, 91),
    "clone": (56, 220),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "ioctl": (16, 29),
    "keyctl": (250, 219),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "seccomp": (317, 277),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "socket": (41, 198),
    "umount2": (166, 39),
    "unshare": (272, 97),
}

# PyDLL keeps the interpreter's lock: the callers have one thread, so giving it away and back is time for nothing.
libc = ctypes.PyDLL(None, use_errno=True)

# c_void_p takes what the kernel takes: numbers, bytes, None, and references to structures.
_syscall = libc.syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (ctypes.c_long, *(ctypes.c_void_p,) * 6)

# A 32-bit Python on a 64-bit kernel makes other calls with the same numbers.
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(MACHINE) if ctypes.sizeof(ctypes.c_void_p) == 8 else None


def number(name: str) -> int:
    """The number of a call on this machine; -1, which the kernel does not know, on one that is not in the table."""
    return -1 if _COLUMN is None else NUMBERS[name][_COLUMN]


def syscall(number: int, *args: object) -> int:
    """Make a system call; raises OSError with the call's name. Text must come as bytes."""
    result: int = _syscall(number, *args, *_ZEROS[len(args) :])
    if result == -1:
        raise failure(name_of(number))
    return result


def failure(name: str) -> OSError:
    """The OSError for the call that has just failed."""
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code), name)


def name_of(number: int) -> str:
    """The name of a call on this machine, for messages."""
    if _COLUMN is not None:
        for name, numbers in NUMBERS.items():
            if numbers[_COLUMN] == number:
                return name
    return f"syscall({number})"


_ZEROS = (0,) * 6
