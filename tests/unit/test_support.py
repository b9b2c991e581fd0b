"""What a host gives: the levels as a table, reasons and cures, and the real kernel with its features taken away."""

import errno
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.needs import need, no_ordinary_python
from tests.surface.tree import PACKAGE

from belljar.linux import support
from belljar.linux.support import LAYERS, NEEDS, Finding, Support, explain, level, probe
from belljar.report import Level

WALLS = {*NEEDS["every level"], *NEEDS["rootless"]}
REDUCED = {*NEEDS["every level"], *NEEDS["reduced"]}
CONTROLLERS = ("cpu control", "swap accounting")


def host(works: set[str]) -> Support:
    return Support(tuple(Finding(layer, layer in works) for layer in LAYERS))


# Levels


@pytest.mark.parametrize(
    ("works", "expected"),
    [
        (set(LAYERS), "full"),
        (set(LAYERS) - set(NEEDS["advice"]), "full"),
        (set(LAYERS) - {"landlock"}, "full"),
        (WALLS | {"control groups"}, "full"),
        (WALLS, "rootless"),
        *[(set(LAYERS) - {layer}, "reduced") for layer in NEEDS["rootless"]],
        *[(set(LAYERS) - {layer}, "none") for layer in NEEDS["every level"]],
        (set(LAYERS) - {"landlock", "user namespace"}, "none"),
        (REDUCED, "reduced"),
        (set(), "none"),
    ],
)
def test_level(works: set[str], expected: str) -> None:
    assert level(host(works)) == expected
    assert Level(level(host(works))) in Level


def test_what_was_not_looked_at_is_missing() -> None:
    assert level(Support(())) == "none"
    assert level(Support(host(set(LAYERS)).findings[:-1])) == "full"
    assert level(Support(tuple(one for one in host(set(LAYERS)).findings if one.layer != "proc"))) == "reduced"


@given(st.sets(st.sampled_from(LAYERS)), st.sampled_from(LAYERS))
def test_less_is_never_more(works: set[str], layer: str) -> None:
    more, less = Level(level(host(works | {layer}))), Level(level(host(works - {layer})))
    assert more.at_least(less)


def test_every_layer_has_one_need() -> None:
    assert not any(set(one) & set(other) for one, other in combinations(NEEDS.values(), 2))
    assert {Finding(layer, False).state for layer in NEEDS["advice"]} == {"note"}
    assert {Finding(layer, False).state for layer in set(LAYERS) - set(NEEDS["advice"])} == {"missing"}
    assert {Finding(layer, True).state for layer in LAYERS} == {"ok"}


# Reasons and cures


def files(monkeypatch: pytest.MonkeyPatch, texts: Mapping[str, str], uid: int = 1000) -> None:
    """A host whose files in /proc are these; the keys are the ends of their names."""

    def text(path: str) -> str:
        return texts.get(path.rpartition("/")[2], "")

    monkeypatch.setattr(support, "_text", text)
    monkeypatch.setattr(os, "geteuid", lambda: uid)


FULL = "22 1 0:21 / / rw - ext4 /dev/vda rw\n23 22 0:22 / /proc rw - proc proc rw\n"
MASKED = f"{FULL}24 23 0:22 / /proc/kcore rw - tmpfs tmpfs rw\n"
BINFMT = f"{FULL}24 23 0:22 / /proc/sys/fs/binfmt_misc rw - autofs a rw\n"
FILTER = "Name:\tpython\nSeccomp:\t2\n"


@pytest.mark.parametrize(
    ("layer", "code", "texts", "reason", "cure"),
    [
        ("user namespace", errno.EPERM, {"unprivileged_userns_clone": "0"}, "_clone is 0", "sysctl -w kernel."),
        ("user namespace", errno.ENOSPC, {"max_user_namespaces": "0"}, "namespaces, 0", "sysctl -w user.max_user"),
        ("mount namespace", errno.ENOSPC, {"max_mnt_namespaces": "0"}, "namespaces, 0", "sysctl -w user.max_mnt"),
        ("net namespace", errno.ENOSPC, {"max_net_namespaces": "0"}, "namespaces, 0", "sysctl -w user.max_net"),
        (
            "cells",
            errno.ENOSPC,
            {"max_user_namespaces": "90000"},
            "namespaces, 90000",
            "sysctl -w user.max_user_namespaces=180000",
        ),
        ("user namespace", errno.EPERM, {"status": FILTER}, "seccomp filter", "docker run --security-opt seccomp="),
        ("user namespace", errno.EINVAL, {}, "built without", "CONFIG_USER_NS=y"),
        ("user namespace", errno.ENOENT, {}, "/proc is not mounted", "mount -t proc proc /proc"),
        ("proc", errno.EPERM, {"mountinfo": MASKED}, "hidden here: /proc/kcore", "systempaths=unconfined"),
        ("proc", errno.EPERM, {"mountinfo": BINFMT}, "this host refuses it", "journalctl"),
        ("mounts", errno.EPERM, {"mountinfo": "1 2 0:1 / /usr rw - ext4 a rw"}, "chroot", "outside of the chroot"),
        ("own root", errno.EINVAL, {}, "initramfs", "switch_root"),
        ("read-only binds", errno.ENOSYS, {}, "does not know the call", "boot Linux 5.12"),
        ("read-only binds", errno.ENOSYS, {"status": FILTER}, "seccomp filter", "docker run"),
        ("landlock", errno.EOPNOTSUPP, {"lsm": "lockdown,yama"}, "it is off", "lsm=landlock,lockdown,yama"),
        ("seccomp", errno.ENOENT, {}, "no filter for", "x86_64 or aarch64"),
        ("seccomp", errno.EINVAL, {}, "built without", "CONFIG_SECCOMP_FILTER=y"),
        ("mounts", errno.EIO, {}, "input/output error", "strace"),
    ],
)
def test_reason_and_cure(
    monkeypatch: pytest.MonkeyPatch, layer: str, code: int, texts: dict[str, str], reason: str, cure: str
) -> None:
    files(monkeypatch, texts)
    why = support._why(layer, code)
    assert reason in why[0]
    assert cure in why[1]


@pytest.mark.parametrize("layer", ["user namespace", "mount namespace", "mounts"])
def test_apparmor_of_ubuntu(monkeypatch: pytest.MonkeyPatch, layer: str) -> None:
    restricted = {"apparmor_restrict_unprivileged_userns": "1", "current": "unconfined"}
    files(monkeypatch, restricted)
    reason, cure = support._why(layer, errno.EACCES)
    assert "AppArmor" in reason
    assert "apparmor_parser -r" in cure
    assert f'profile belljar "{os.path.realpath(sys.executable)}" flags=(unconfined) {{\n  userns,\n}}' in cure
    files(monkeypatch, restricted | {"current": "docker-default (enforce)", "status": FILTER})
    assert "docker run" in support._why(layer, errno.EPERM)[1]
    files(monkeypatch, restricted, uid=0)
    assert "AppArmor" not in support._why(layer, errno.EPERM)[0]


@pytest.mark.parametrize("uid", [0, 1000])
@pytest.mark.parametrize("layer", LAYERS)
def test_nothing_is_missing_without_a_cure(monkeypatch: pytest.MonkeyPatch, layer: str, uid: int) -> None:
    files(monkeypatch, {}, uid=uid)
    for code in errno.errorcode:
        assert all(support._why(layer, code))


@pytest.mark.parametrize(
    ("reason", "cure"),
    [
        ("cgroup v2: /sys/fs/cgroup holds processes itself, so it cannot be divided", "mkdir /sys/fs/cgroup/rest; for"),
        ("cgroup v2: not mounted; cgroup v1: memory: not mounted", "as root"),
    ],
)
def test_cure_of_control_groups(reason: str, cure: str) -> None:
    assert cure in support._group_cure(reason)


def test_explain_knows_every_stage() -> None:
    """A stage that none of the layers explains gets at least the advice to ask the doctor."""
    sources = "".join(path.read_text() for path in (PACKAGE / "zygote").glob("*.py"))
    stages = set(re.findall(r'\bstage\("([^"]+)"\)', sources))
    assert {"user namespace", "mounts: proc", "jar", "landlock"} <= stages
    known = {stage for named in support._STAGES.values() for stage in named.split(", ")}
    own = {"preload", "mounts: of the policy"}  # not a matter of the host
    assert {stage for stage in stages if stage.startswith("mounts: ")} - own <= known
    for stage in stages | known:
        sentence, cure = explain(stage, errno.EPERM)
        assert not sentence.endswith(".")
        assert bool(cure) == (stage not in own)
        assert sentence
        assert (stage in known) == (sentence != "this step of the launch failed")


def test_explain_without_errno() -> None:
    assert explain("preload", None) == ("this step of the launch failed", None)
    assert explain("zygote", None) == ("this step of the launch failed", "belljar doctor")
    assert explain("mounts: proc", errno.ENOMEM) == ("cannot allocate memory", "strace -f belljar doctor")
    assert explain("seccomp", None) == ("this step of the launch failed", "belljar doctor")
    assert explain("mounts: /srv/data", errno.ENOENT) == ("this step of the launch failed", None)


# The real kernel, with less and less of it

SETUP = """
import ctypes, errno, json, os, struct, sys, time
from belljar.linux import mounts, namespaces, prctl, seccomp, support
from belljar.linux.namespaces import Namespace

def hide(path):
    mounts.mount("none", path, "tmpfs")

def own_mounts():
    namespaces.unshare(Namespace.MOUNT)
    mounts.make_private()

def refuse(*calls, code=errno.EPERM):
    \"\"\"A filter that answers these calls with an errno: load the number, compare, return.\"\"\"
    filters = struct.pack("=HBBI", 0x20, 0, 0, 0)
    for call in calls:
        filters += struct.pack("=HBBI", 0x15, 0, 1, namespaces.number(call))
        filters += struct.pack("=HBBI", 0x06, 0, 0, 0x50000 | code)
    prctl.no_new_privs()
    seccomp.install(filters + struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000))
"""
TELL = """
start = time.perf_counter()
found = support.probe()
seconds = time.perf_counter() - start
findings = {one.layer: one._asdict() for one in found.findings}
print(json.dumps({"level": support.level(found), "seconds": seconds, "findings": findings}))
"""
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
BECOME = (
    "os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\nprctl.set_dumpable(True)"
)


def ask(code: str = "", *, nobody: bool = False) -> tuple[str, dict[str, Any]]:
    """The level, and what is not ok, of an interpreter that has first run `code`."""
    prefix = NOBODY if nobody and os.geteuid() == 0 else ()
    if prefix and (reason := no_ordinary_python()):
        pytest.skip(reason)
    program = SETUP + textwrap.dedent(code) + TELL
    done = subprocess.run(
        [*prefix, sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert list(told["findings"]) == list(LAYERS)
    bad = {layer: one for layer, one in told["findings"].items() if not one["works"]}
    assert all(one["reason"] and one["cure"] for one in bad.values()), bad
    return told["level"], bad


def test_as_it_is() -> None:
    found = probe()
    assert tuple(one.layer for one in found.findings) == LAYERS
    assert all(one.by if one.works else one.reason and one.cure for one in found.findings)


def test_it_is_quick() -> None:
    program = SETUP + TELL
    told = [json.loads(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5)]
    assert min(one["seconds"] for one in told) < 0.1


def test_it_changes_nothing() -> None:
    """Mounts, control groups, children, descriptors and identity are as before."""
    ask(
        """
        def state():
            groups = {}
            for point in mounts.mountinfo():
                if point.fstype in ("cgroup", "cgroup2"):
                    control = f"{point.target}/cgroup.subtree_control"
                    groups[point.target] = open(control).read() if os.path.exists(control) else ""
            spaces = [os.readlink(f"/proc/self/ns/{name}") for name in sorted(os.listdir("/proc/self/ns"))]
            return (open("/proc/self/mountinfo").read(), groups, os.listdir("/proc/self/fd"), spaces, os.getresuid(),
                    open("/proc/self/task/%d/children" % os.getpid()).read(), os.listdir("/tmp") and None)
        before = state()
        support.probe()
        assert state() == before
        """
    )


def test_root_reaches_full() -> None:
    need("root", "userns", "seccomp", "cgroup")
    achieved, bad = ask()
    assert achieved == "full"
    assert set(bad) <= {"landlock", *NEEDS["advice"]}


def test_nobody_reaches_rootless() -> None:
    need("userns", "seccomp")
    achieved, bad = ask(nobody=True)
    assert achieved in ("rootless", "full")
    assert set(bad) <= {"landlock", "control groups", *NEEDS["advice"]}


def test_no_user_namespaces_left() -> None:
    """The limit of a user namespace counts for those below it."""
    need("userns", "seccomp", "landlock")
    code = """
    uid, gid = os.getuid(), os.getgid()
    namespaces.unshare(Namespace.USER)
    namespaces.write_maps("self", [(1000, uid, 1)], [(1000, gid, 1)], deny_setgroups=True)
    open("/proc/sys/user/max_user_namespaces", "w").write("0")
    """
    achieved, bad = ask(code, nobody=True)
    assert achieved == "reduced"
    assert bad["user namespace"]["errno"] == errno.ENOSPC
    assert bad["user namespace"]["cure"] == "sysctl -w user.max_user_namespaces=15000"
    assert bad["mounts"]["reason"] == "not tried, since `user namespace` fails"


def test_no_net_namespaces_left() -> None:
    need("userns", "seccomp", "landlock")
    code = """
    uid, gid = os.getuid(), os.getgid()
    namespaces.unshare(Namespace.USER)
    namespaces.write_maps("self", [(1000, uid, 1)], [(1000, gid, 1)], deny_setgroups=True)
    open("/proc/sys/user/max_net_namespaces", "w").write("0")
    """
    achieved, bad = ask(code, nobody=True)
    assert achieved == "reduced"
    assert bad["net namespace"]["cure"] == "sysctl -w user.max_net_namespaces=15000"
    assert not {"user namespace", "mount namespace", "mounts", "proc"} & set(bad)


@pytest.mark.parametrize("nobody", [False, True], ids=["as-is", "nobody"])
def test_namespaces_denied_by_a_filter(nobody: bool) -> None:
    """As containers do it."""
    need("seccomp", "landlock")
    achieved, bad = ask("refuse('unshare', 'setns')", nobody=nobody)
    first = "mount namespace" if os.geteuid() == 0 and not nobody else "user namespace"
    assert bad[first]["errno"] == errno.EPERM
    assert "seccomp filter" in bad[first]["reason"]
    assert "--security-opt seccomp=unconfined" in bad[first]["cure"]
    assert achieved == "reduced"


def test_mount_setattr_denied() -> None:
    need("userns", "seccomp", "landlock")
    achieved, bad = ask("refuse('mount_setattr', code=errno.ENOSYS)", nobody=True)
    assert achieved == "reduced"
    assert bad["read-only binds"]["errno"] == errno.ENOSYS


def test_landlock_is_off() -> None:
    need("userns", "seccomp")
    achieved, bad = ask("refuse('landlock_create_ruleset', code=errno.EOPNOTSUPP)", nobody=True)
    assert achieved in ("rootless", "full")
    assert "lsm=landlock" in bad["landlock"]["cure"]


def test_under_the_filter_of_a_cell() -> None:
    need("seccomp", "landlock")
    achieved, bad = ask("prctl.no_new_privs(); seccomp.install(seccomp.load('cell'))", nobody=True)
    assert achieved == "reduced"
    assert "seccomp filter" in bad["user namespace"]["reason"]


def test_no_forks() -> None:
    need("seccomp")
    achieved, bad = ask("import resource; resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))", nobody=True)
    assert achieved == "none"
    assert bad["seccomp"]["reason"] == "not tried: there was no child"


def test_control_groups_hidden() -> None:
    need("root", "userns", "seccomp")
    achieved, bad = ask("own_mounts(); hide('/sys/fs/cgroup')")
    assert achieved == "rootless"
    assert "control groups" in bad


@pytest.mark.parametrize("how", ["umount", "empty"])
def test_without_proc(how: str) -> None:
    need("root", "userns", "seccomp")
    gone = "mounts.umount('/proc', mounts.UmountFlag.DETACH)" if how == "umount" else "hide('/proc'); hide('/sys')"
    achieved, bad = ask(f"own_mounts(); {gone}\n{BECOME}")
    assert achieved == "reduced"
    assert bad["user namespace"]["reason"] == "/proc is not mounted"
    assert bad["user namespace"]["cure"] == "mount -t proc proc /proc"


def test_a_part_of_proc_is_hidden() -> None:
    """As in containers: then the kernel gives no proc to a user namespace."""
    need("root", "userns", "seccomp", "landlock")
    place = next(place for place in ("/proc/irq", "/proc/bus", "/proc/fs", "/proc/sys") if Path(place).is_dir())
    achieved, bad = ask(f"own_mounts(); hide({place!r})\n{BECOME}")
    assert achieved == "reduced"
    assert bad["proc"]["reason"] == f"a part of /proc is hidden here: {place}"
    assert "systempaths=unconfined" in bad["proc"]["cure"]


def test_root_of_a_small_user_namespace() -> None:
    """Root, but of one user only: there are none for the cells, which get on without as those of others do."""
    need("userns", "seccomp", "landlock")
    code = """
    uid, gid = os.getuid(), os.getgid()
    namespaces.unshare(Namespace.USER)
    namespaces.write_maps("self", [(0, uid, 1)], [(0, gid, 1)], deny_setgroups=True)
    """
    achieved, bad = ask(code, nobody=True)
    assert achieved in ("rootless", "full")
    assert "user ids" not in bad


KEEP = "from belljar.linux import capabilities; capabilities.keep_only({})"


def test_root_without_capabilities() -> None:
    """Linux 5.12 asks for one when the user that is mapped is root."""
    need("root", "userns", "seccomp", "landlock")
    achieved, bad = ask(KEEP.format("capabilities.Capability.SETFCAP"))
    assert achieved in ("rootless", "full")
    achieved, bad = ask(KEEP.format(""))
    assert achieved == "reduced"
    assert bad["user namespace"]["cure"].endswith("--cap-add SETFCAP")


def test_root_without_capabilities_in_a_container() -> None:
    """A container's filter refuses namespaces to those who lack the capability."""
    need("root", "userns", "seccomp", "landlock")
    achieved, bad = ask(f"refuse('unshare'); {KEEP.format('')}")
    assert achieved == "reduced"
    assert "--cap-add SYS_ADMIN" in bad["user namespace"]["cure"]
