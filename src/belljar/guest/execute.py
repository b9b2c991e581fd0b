"""Runs a program by other programs: what prepares it, and then the program itself, in place of this one."""

import os
import signal
import sys

from belljar.guest.channel import Channel
from belljar.guest.runner import Header

NOT_FOUND = 127


def execute(header: Header, source: bytes, path: str, channel: Channel) -> int:  # noqa: ARG001  as its siblings
    """Take the steps; the last one is what this process becomes. The exit code, where it does not come to that."""
    places = {"{file}": path, "{out}": os.path.join(os.path.dirname(path), "program")}
    *before, last = [[places.get(word, word) for word in step] for step in header["steps"]]
    for step in before:
        code = _run(step)
        if code != 0:
            message = f"{step[0]} ended with exit code {code}"
            channel.claim("rejected", {"error": {"type": "CompileError", "message": message, "traceback": message}})
            return 1
    channel.claim("started", True)
    for signum in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(signum, signal.SIG_DFL)  # what the interpreter has changed, a new program would keep
    try:
        os.execvp(last[0], last)
    except OSError as error:
        print(f"{last[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND


def _run(step: list[str]) -> int:
    try:
        pid = os.posix_spawnp(step[0], step, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT])
    except OSError as error:
        print(f"{step[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
