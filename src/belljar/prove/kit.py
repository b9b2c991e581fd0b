"""What the attacks share. It is sent along with each of them, as kit.py, and runs beside it: never on the host.

An attack ends by saying on a line of its own either HELD (and by what), or BROKEN and why. One that says neither has
proven nothing. `told` is what the host tells it: where the canaries are, and a token that marks all that it leaves.
"""

import ctypes
import errno
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

# Name: number on x86_64, on aarch64 (-1: not there).
NUMBERS = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chmod": (90, -1),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "gettid": (186, 178),
    "init_module": (175, 105),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lookup_dcookie": (212, 18),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mknod": (133, -1),
    "mknodat": (259, 33),
    "modify_ldt": (154, -1),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "mq_timedreceive": (243, 183),
    "mq_timedsend": (242, 182),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "seccomp": (317, 277),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "setfsgid": (123, 152),
    "setfsuid": (122, 151),
    "setgid": (106, 144),
    "setgroups": (116, 159),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "setregid": (114, 143),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "setreuid": (113, 145),
    "settimeofday": (164, 170),
    "setuid": (105, 146),
    "setxattr": (188, 5),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "shmget": (29, 194),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysfs": (139, -1),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, -1),
    "userfaultfd": (323, 282),
    "ustat": (136, -1),
    "vhangup": (153, 58),
}

_HERE = os.path.dirname(os.path.abspath(__file__))
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine, 2)

# What a wall answers: not allowed, or no such call in this kernel.
REFUSALS = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.EROFS}
    | {errno.ETXTBSY}  # which comes before a read-only mount is looked at
)
GONE = REFUSALS | {errno.ENOENT, errno.ENOTDIR, errno.ESRCH, errno.ECONNREFUSED, errno.ENXIO, errno.ENODEV}

with open(os.path.join(_HERE, "told.json"), encoding="utf-8") as _file:
    told: dict[str, Any] = json.load(_file)
token: str = told["token"]

libc = ctypes.CDLL(None, use_errno=True)
_said = threading.Lock()
_reasons: list[str] = []
_refused: dict[str, int] = {}
BAD = 8  # an address that nobody has


class NotHereError(Exception):
    """This machine has no such call."""


def say(*words: object) -> None:
    """A line of its own, whatever came before."""
    with _said:
        os.write(1, ("\n" + " ".join(str(word) for word in words) + "\n").encode(errors="replace"))


def held(by: object = "") -> None:
    """The attack did not get through."""
    say("HELD", by)


def broken(why: object) -> None:
    """The attack got through. It may go on, to say all that it has got."""
    _reasons.append(str(why))
    say("BROKEN", why)


def note(why: object) -> None:
    """Something worth knowing that is no verdict."""
    say("NOTE", why)


def end(by: object = "") -> NoReturn:
    """The last word: HELD when nothing was BROKEN."""
    if not _reasons:
        names = sorted({errno.errorcode.get(code, str(code)) for code in _refused.values()})
        held(by or ", ".join(names))
    sys.stdout.flush()
    os._exit(0)


def call(name: str | int, *args: Any) -> int:
    """Make a system call, past libc's own wrappers; raises OSError."""
    number = name if isinstance(name, int) else (*NUMBERS[name], -1)[_COLUMN]
    if number < 0:
        raise NotHereError(name)
    words = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(number), *words))
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(name))
    return result


def attempt(what: str, function: Callable[..., Any], *args: Any, stopped_by: frozenset[int] = GONE) -> Any:
    """Try it. When it is done, or fails by anything that is no wall, the attack is through; returns what came."""
    try:
        result = function(*args)
    except NotHereError:
        return None
    except OSError as error:
        if error.errno in stopped_by:
            _refused[what] = error.errno or 0
        else:
            broken(f"{what}: got as far as {errno.errorcode.get(error.errno or 0, error)}")
        return None
    if isinstance(result, str) and told["mark_backwards"][::-1] in result:
        say("FOUND", result)  # a canary: the host knows it
    # What else was read is not shown: it may be a secret of somebody.
    broken(f"{what}: {len(result)} characters" if isinstance(result, str) else f"{what}: done")
    return result


def reaches(name: str, *args: Any, stopped_by: frozenset[int] = REFUSALS) -> None:
    """Make a call with arguments that cannot do harm: the attack is through when the kernel looks at them at all."""
    attempt(name, call, name, *args, stopped_by=stopped_by)


def in_child(function: Callable[[], Any]) -> None:
    """Do it in a forked child, whose words count as ours; a child that dies has not said HELD."""
    pid = os.fork()
    if pid == 0:
        code = 9
        try:
            function()
            code = 1 if _reasons else 0
        except BaseException as error:  # noqa: BLE001  whatever it is, it is told
            say("NOTE", f"in a child: {error!r}")
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code == 1:
        _reasons.append("in a child")
    elif code:
        say("UNCLEAR", f"a child ended with {code}")
        os._exit(9)


def read(path: str, size: int = 4096) -> str:
    """The beginning of a file."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(fd, size).decode("utf-8", "replace")
    finally:
        os.close(fd)


def peek(path: str) -> None:
    """Try to read a file that is not ours."""
    attempt(f"read {path}", read, path)


def opens(path: str, flags: int = os.O_WRONLY) -> None:
    """Try to open a file, and close it again at once."""
    attempt(f"open {path}", lambda: os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)))


def status() -> dict[str, str]:
    """/proc/self/status."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return {key: value.strip() for key, _, value in (line.partition(":") for line in file)}
