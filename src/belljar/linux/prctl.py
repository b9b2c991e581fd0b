"""prctl(2): attributes of the calling process and thread."""

from belljar.linux.libc import number, syscall

PR_SET_PDEATHSIG = 1
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_GET_SECUREBITS = 27
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36  # Linux 3.4
PR_SET_NO_NEW_PRIVS = 38  # Linux 3.5
PR_GET_NO_NEW_PRIVS = 39

NOROOT = 1 << 0
NOROOT_LOCKED = 1 << 1
NO_SETUID_FIXUP = 1 << 2
NO_SETUID_FIXUP_LOCKED = 1 << 3
KEEP_CAPS_LOCKED = 1 << 5
NO_CAP_AMBIENT_RAISE = 1 << 6
NO_CAP_AMBIENT_RAISE_LOCKED = 1 << 7

_PRCTL = number("prctl")
_LOCK = (
    NOROOT
    | NOROOT_LOCKED
    | NO_SETUID_FIXUP
    | NO_SETUID_FIXUP_LOCKED
    | KEEP_CAPS_LOCKED
    | NO_CAP_AMBIENT_RAISE
    | NO_CAP_AMBIENT_RAISE_LOCKED
)


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(signum: int) -> None:
    """Get `signum` when the thread that forked this process ends. A change of identity clears it: call it after."""
    prctl(PR_SET_PDEATHSIG, signum)


def set_dumpable(dumpable: bool) -> None:
    """Undumpable: no core file, no ptrace, and /proc/PID belongs to root. execve makes a process dumpable again."""
    prctl(PR_SET_DUMPABLE, int(dumpable))


def get_dumpable() -> bool:
    """Whether this process is dumpable. 2, "readable by root only", counts as not."""
    return prctl(PR_GET_DUMPABLE) == 1


def no_new_privs() -> None:
    """From now on no execve gives privileges: setuid bits and file capabilities do nothing."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def has_no_new_privs() -> bool:
    """Whether `no_new_privs` holds for this thread."""
    return prctl(PR_GET_NO_NEW_PRIVS) == 1


def name(text: str) -> None:
    """Set the name that ps shows; the kernel keeps 15 bytes."""
    prctl(PR_SET_NAME, text.encode()[:15])


def securebits_lock() -> None:
    """Take the meaning from uid 0, for good: no capabilities by execve or setuid, none kept or raised. CAP_SETPCAP."""
    prctl(PR_SET_SECUREBITS, _LOCK)


def securebits() -> int:
    """The secure bits of this thread."""
    return prctl(PR_GET_SECUREBITS)


def prctl(option: int, first: int | bytes = 0, second: int = 0) -> int:
    """The call itself. Options refuse rubbish in arguments that they do not use: those are zero here."""
    try:
        return syscall(_PRCTL, option, first, second)
    except OSError as error:
        error.filename = f"prctl({option})"
        raise
