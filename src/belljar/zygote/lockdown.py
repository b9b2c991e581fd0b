"""The last locks of a worker, and the proof that they hold: capabilities, Landlock, seccomp."""

import os

from belljar.linux import capabilities, landlock, prctl, seccomp
from belljar.linux.capabilities import Capability
from belljar.linux.landlock import AccessFs
from belljar.zygote.protocol import Packet
from belljar.zygote.stages import StageError, stage

FILTER = "cell"
_WRITABLE = ("/jar", "/workspace", "/tmp", "/dev")
_SEALED = {"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapBnd": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2}


def lock(settings: Packet) -> None:
    """Take everything away, in the order in which each step needs what a later one takes."""
    with stage("capabilities"):
        capabilities.drop_bounding_set()
        prctl.securebits_lock()
        capabilities.clear()
    with stage("no_new_privs"):
        prctl.no_new_privs()
    with stage("dumpable"):
        prctl.set_dumpable(True)  # a change of user id has cleared it, and with it /proc/self of the code
    if settings["landlock"]:
        with stage("landlock"):
            _landlock(settings["landlock"], [target for _, target, mode in settings["mounts"] if mode == "rw"])
    with stage("seccomp"):
        seccomp.install(settings["filter"])


def lock_init() -> None:
    """The init keeps one capability until its run starts: to give the jar another size."""
    with stage("init: capabilities"):
        capabilities.drop_bounding_set()
        prctl.securebits_lock()
        capabilities.keep_only(Capability.SYS_ADMIN)
        prctl.set_dumpable(False)
        prctl.no_new_privs()


def finish_init(settings: Packet) -> None:
    """The run starts: nothing is to be mounted any more."""
    capabilities.clear()
    seccomp.install(settings["filter"])


def check(pid: int, uid: int) -> Packet:
    """What the kernel says of a worker that should be sealed; a StageError where that is not what it must be."""
    found = {}
    with stage("self-check"), open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        fields = dict(line.split(":", 1) for line in status.read().splitlines() if ":" in line)
    for name, wanted in _SEALED.items():
        found[name] = int(fields[name], 16) if name.startswith("Cap") else int(fields[name])
        if found[name] != wanted:
            raise StageError("self-check", None, f"{name} is {found[name]:#x} and must be {wanted:#x}")
    if set(fields["Uid"].split() + fields["Gid"].split()) != {str(uid)}:
        raise StageError("self-check", None, f"the user is {fields['Uid'].split()}, and must be {uid}")
    descriptors = sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd"))
    if descriptors[:3] != [0, 1, 2] or len(descriptors) != 4:
        raise StageError("self-check", None, f"the descriptors are {descriptors}, and must be 0, 1, 2 and the guest's")
    return found


def _landlock(abi: int, shared: list[str]) -> None:
    rights = landlock.fs_rights(abi)
    read = AccessFs.EXECUTE | AccessFs.READ_FILE | AccessFs.READ_DIR
    with landlock.Ruleset(handled_fs=rights, scoped=landlock.scopes(abi)) as ruleset:
        for path, allowed in (("/", read), *((place, rights) for place in (*_WRITABLE, *shared))):
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            ruleset.allow_path(fd, allowed)
            os.close(fd)
        ruleset.restrict_self()
