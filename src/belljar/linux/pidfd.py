"""Process descriptors."""

import os


def pid_of(pidfd: int) -> int | None:
    """The pid, in our own pid namespace, of the process behind a descriptor; None when it has ended."""
    fd = os.open(f"/proc/self/fdinfo/{pidfd}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        fields = dict(line.split(b":\t", 1) for line in os.read(fd, 4096).splitlines() if b":\t" in line)
    finally:
        os.close(fd)
    pid = int(fields[b"Pid"])
    return pid if pid > 0 else None
