"""The worker process, from parked to its end: takes one program, makes it the main program, runs it, leaves."""

import atexit
import errno
import gc
import math
import os
import random
import re
import resource
import signal
import sys
import threading
from typing import NoReturn

from belljar.guest import call, execute, runner, stdio
from belljar.guest.channel import Channel
from belljar.guest.fresh import make_fresh

STAT = "stat"  # beside main.py, what is seen as /proc/stat: the C library counts processors by it


def main(guest: int, root: str, environment: dict[str, str]) -> NoReturn:
    """Wait for the program, run it, and end as the interpreter would have ended."""
    make_fresh(environment)
    stdio.install()
    gc.enable()
    try:
        code = serve(Channel(guest), root)
    except EOFError:
        os._exit(0)  # parked, and never used
    leave(code)


def serve(channel: Channel, root: str) -> int:
    """Take one program, and run it; returns its exit code."""
    header, stdin = channel.receive()
    if stdin is not None:
        os.dup2(stdin, 0)
        os.close(stdin)
    _apply_limits(header["rlimits"])
    if header["cpus"] is not None:
        _stay_on(header["cpus"], os.path.join(root, STAT))
    os.environ.update(header["env"])
    os.umask(0o022)
    source = channel.read(header["source"])
    path = os.path.join(root, header["filename"])
    _write_source(path, source)
    _write_files(channel, header["files"])
    kinds = {"run": runner.run, "call": call.call, "execute": execute.execute}
    return kinds[header["kind"]](header, source, path, channel)


def leave(code: int) -> NoReturn:
    """What the interpreter does at its end, without taking it apart: threads, atexit, buffers."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        code = _flush() or code
    except KeyboardInterrupt:
        code = runner.INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os._exit(code)


def _flush() -> int:
    """Flush what is still in the buffers; 120, as the interpreter says it, when that fails."""
    code = 0
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            code = 120 if stream is sys.stdout and stream is not None else code
    return code


def _apply_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (bound, bound))


def _stay_on(cpus: float, stat: str) -> None:
    """Keep to as many processors as the program may use, so that it sees no more; not all programs to the same ones."""
    here = sorted(os.sched_getaffinity(0))
    count = min(len(here), math.ceil(cpus))
    os.sched_setaffinity(0, random.sample(here, count))
    if os.path.exists(stat):
        with open(stat, "r+", encoding="ascii") as file:
            lines = file.readlines()
            file.seek(0)
            file.writelines(
                line for line in lines if not re.match("cpu[0-9]", line) or int(line[3:].split()[0]) < count
            )
            file.truncate()


def _write_source(path: str, source: bytes) -> None:
    """Not by open(), whose objects are pages to be copied."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    if os.write(file, source) < len(source):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    os.close(file)


def _write_files(channel: Channel, files: list[tuple[str, int, int]]) -> None:
    """Write the input files below the working directory, following no link and replacing nothing."""
    for name, length, mode in files:
        directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        *parents, leaf = name.split("/")
        for parent in parents:
            try:
                os.mkdir(parent, 0o755, dir_fd=directory)
            except FileExistsError:
                pass
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            below = os.open(parent, flags, dir_fd=directory)
            os.close(directory)
            directory = below
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(leaf, flags, mode, dir_fd=directory)
        os.close(directory)
        while length:
            part = channel.read_some(length)
            os.write(file, part)
            length -= len(part)
        os.close(file)
