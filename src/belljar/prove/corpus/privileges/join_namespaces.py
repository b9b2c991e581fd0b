"""Join the namespaces of other processes, and our own again."""

TITLE = "Join namespaces"
MUST_NOT = "No namespace can be joined, not even our own."
SEVERITY = "critical"
LAYER = "syscalls"

import os

from kit import attempt, call, end, told


def join(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                call("setns", fd, 0)
            except OSError as error:
                os._exit(error.errno)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            raise OSError(code, os.strerror(code))
    finally:
        os.close(fd)


for pid in ("self", "1", str(os.getppid()), str(told["victim"])):
    for name in ("mnt", "net", "pid", "ipc", "uts", "cgroup", "time"):
        attempt(f"{name} of {pid}", join, f"/proc/{pid}/ns/{name}")
attempt("user of 1", join, "/proc/1/ns/user")
handle = os.pidfd_open(os.getpid())
attempt("by pidfd", call, "setns", handle, 0x40000000)
end()
