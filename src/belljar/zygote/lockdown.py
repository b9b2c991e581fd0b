"""The last locks of a worker, and the proof that they hold: capabilities, Landlock, seccomp."""

import os
from typing import NamedTuple

from belljar.linux import capabilities, landlock, prctl, seccomp
from belljar.linux.capabilities import Capability
from belljar.linux.landlock import AccessFs
from belljar.zygote import template
from belljar.zygote.protocol import Packet
from belljar.zygote.stages import StageError, stage

_SEALED = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapBnd": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2}
_READ = int(AccessFs.EXECUTE | AccessFs.READ_FILE | AccessFs.READ_DIR)
_OF_FILES = int(AccessFs.READ_FILE | AccessFs.WRITE_FILE | AccessFs.EXECUTE | AccessFs.TRUNCATE)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
# What programs read of a host that they share with others, where they have no root of their own.
_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/etc/ssl/certs")


class Lock(NamedTuple):
    """How workers are locked: made once by the zygote, while it can still read files."""

    filters: tuple[bytes, ...]
    landlock: int
    """The ABI of the kernel; its rights and scopes are the next two."""
    rights: int
    scopes: int
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    uid: int | None
    """The only user that a worker may be; None where it stays the caller's."""
    traced: dict[int, tuple[str, int]] | None
    """Name and errno of the calls that may be refused, where refusals are to be heard of."""


def prepare(settings: Packet) -> Lock:
    """The lock that the settings ask for."""
    cell = seccomp.load("cell")
    abi = landlock.abi()
    rights, scopes = int(landlock.fs_rights(abi)), int(landlock.scopes(abi))
    if settings["walls"]:
        shared = [target for _, target, mode in settings["walls"]["mounts"] if mode == "rw"]
        writable = (template.JAR, template.WORKSPACE, "/tmp", "/dev", *shared)
        traced = seccomp.numbers("cell") if settings["walls"]["trace"] else None
        return Lock((cell,), abi, rights, scopes, ("/",), writable, template.UID, traced)
    if not abi:
        raise StageError("landlock", None, "this kernel has none, and without namespaces nothing else bounds the files")
    system = (*template.SYSTEM, *template.interpreter_places(), *_ETC, "/dev/random", "/dev/urandom")
    return Lock((cell, seccomp.load("no-sockets")), abi, rights, scopes, system, _DEVICES, None, None)


def renounce() -> None:
    """No execve gives anything from now on, to this process and to those that it forks."""
    with stage("capabilities"):
        if capabilities.permitted():
            capabilities.drop_bounding_set()
            prctl.securebits_lock()
    with stage("no_new_privs"):
        prctl.no_new_privs()


def lock(how: Lock, own: tuple[str, ...] = ()) -> int | None:
    """Take away what `renounce` has left, in the order in which each step needs what a later one takes.

    `own` are the directories of this cell that it may write to, beside those of every cell. Returns the descriptor on
    which refused calls are heard of, where they are to be.
    """
    with stage("capabilities"):
        capabilities.clear()
    with stage("dumpable"):
        prctl.set_dumpable(True)  # a change of user id has cleared it, and with it /proc/self of the code
    if how.landlock:
        with stage("landlock"):
            _landlock(how, own)
    with stage("seccomp"):
        if how.traced is not None:
            return seccomp.install_traced(how.filters[0])
        for program in reversed(how.filters):  # the last one may refuse what installs the next
            seccomp.install(program)
    return None


def lock_init() -> None:
    """The init keeps one capability until its run starts: to give the jar another size."""
    with stage("init: capabilities"):
        capabilities.keep_only(Capability.SYS_ADMIN)
        prctl.set_dumpable(False)


def finish_init(how: Lock) -> None:
    """The run starts: nothing is to be mounted any more."""
    capabilities.clear()
    seccomp.install(how.filters[0])


def check(pid: int, how: Lock) -> Packet:
    """What the kernel says of a worker that should be sealed; a StageError where that is not what it must be."""
    found = {}
    with stage("self-check"):
        fields = _status(pid)
    for name, wanted in _SEALED.items():
        found[name] = int(fields[name], 16) if name.startswith("Cap") else int(fields[name])
        # Without privileges nobody can empty it, and no_new_privs makes that no matter.
        if found[name] != wanted and (name != "CapBnd" or how.uid is not None):
            raise StageError("self-check", None, f"{name} is {found[name]:#x} and must be {wanted:#x}")
    if how.uid is not None and set(fields["Uid"].split() + fields["Gid"].split()) != {str(how.uid)}:
        raise StageError("self-check", None, f"the user is {fields['Uid'].split()}, and must be {how.uid}")
    descriptors = sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd"))
    if descriptors[:3] != [0, 1, 2] or len(descriptors) != 4:
        raise StageError("self-check", None, f"the descriptors are {descriptors}, and must be 0, 1, 2 and the guest's")
    return {**found, "landlock": how.landlock}


def _status(pid: int) -> dict[str, str]:
    # Not by open(): a text file of Python's touches some hundred pages more.
    fd = os.open(f"/proc/{pid}/status", os.O_RDONLY | os.O_CLOEXEC)
    text = os.read(fd, 16384).decode("ascii", "replace")
    os.close(fd)
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def _landlock(how: Lock, own: tuple[str, ...]) -> None:
    with landlock.Ruleset(handled_fs=how.rights, scoped=how.scopes) as ruleset:
        for paths, allowed in ((how.readable, _READ), (how.writable, how.rights), (own, how.rights)):
            for path in paths:
                try:
                    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
                except FileNotFoundError:
                    continue  # not every host has every place
                ruleset.allow_path(fd, allowed if os.path.isdir(path) else allowed & how.rights & _OF_FILES)
                os.close(fd)
        ruleset.restrict_self()
