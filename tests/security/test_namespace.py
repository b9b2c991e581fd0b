"""What the backend `namespace` shows and refuses, beyond the contract: files, users, mounts, levels, denials."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.needs import need

import belljar
from belljar import CallRequest, Limits, Mount, Outcome, Policy, PolicyError, Sandbox
from belljar.testing.contract.base import wait_until
from belljar.zygote.template import interpreter_places


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("userns", "landlock", "seccomp")


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def seen(box: Sandbox, source: str) -> object:
    """The value of a program that has to run through."""
    result = box.run(textwrap.dedent(source))
    assert result.ok, result.stderr
    return result.value


# Files.


def test_all_that_is_visible_is_in_the_plan(box: Sandbox) -> None:
    """Everything that a walk finds is the system, the interpreter, or made by the cell."""
    found = seen(
        box,
        """
        import os
        shallow = {"/usr", "/proc", "/dev"} | {jar + place for place in PLACES for jar in ("", "/jar")}
        top = []
        for folder, folders, files in os.walk("/"):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in shallow]
            top += [os.path.join(folder, name) for name in files]
            top += [os.path.join(folder, name) for name in os.listdir(folder)]
        sorted(set(top) - {"/jar/main.py", "/jar/stat"})
        """.replace("PLACES", repr(interpreter_places())),
    )
    assert isinstance(found, list)
    system = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr"}
    made = {"/dev", "/etc", "/jar", "/proc", "/tmp", "/workspace", "/jar/shm", "/jar/tmp", "/jar/workspace"}
    places = [f"{jar}{place}" for place in interpreter_places() for jar in ("", "/jar")]  # below /tmp, in the jar too
    above = {str(parent) for place in places for parent in [Path(place), *Path(place).parents]}
    strange = [path for path in found if path not in system | made | above and not path.startswith("/etc/")]
    assert strange == []


def test_etc_is_made_up(box: Sandbox) -> None:
    assert seen(box, "open('/etc/passwd').read()") == (
        "root:x:0:0:root:/:/usr/sbin/nologin\njar:x:1000:1000:jar:/workspace:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
    )
    bound = {"alternatives", "fonts", "mime.types", "protocols", "services", "ssl"}
    made = {"passwd", "group", "hosts", "hostname", "nsswitch.conf", "shells"}
    found = seen(box, "import os; os.listdir('/etc')")
    assert isinstance(found, list)
    assert {name for name in found if not name.startswith(("ld.so", "java-"))} <= bound | made


def test_nothing_but_the_own_places_can_be_written(box: Sandbox) -> None:
    source = """
    import os
    wrote = []
    for place in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/bin", "/lib", "/proc", "/workspace", "/tmp", "/dev/shm"):
        try:
            open(os.path.join(place, "x"), "w").close()
            wrote.append(place)
        except OSError:
            pass
    wrote
    """
    assert seen(box, source) == ["/workspace", "/tmp", "/dev/shm"]


def test_dev_and_proc_hold_little(box: Sandbox) -> None:
    assert seen(box, "import os; sorted(os.listdir('/dev'))") == sorted(
        ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    )
    source = """
    import os
    shown = []
    for name in os.listdir("/proc"):
        try: os.listdir(f"/proc/{name}") if os.path.isdir(f"/proc/{name}") else open(f"/proc/{name}").read(1)
        except OSError: continue
        shown.append(name)
    sorted(shown)
    """
    ours = ["2", "mounts", "net", "self", "thread-self"]
    of_the_machine = ["cpuinfo", "loadavg", "meminfo", "stat", "uptime", "version"]
    assert seen(box, source) == sorted(ours + of_the_machine)


def test_an_interpreter_below_tmp(tmp_path: Path) -> None:
    if not str(tmp_path).startswith("/tmp/"):
        pytest.skip("temporary files are elsewhere here")
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    with Sandbox(python=str(tmp_path / "venv/bin/python")) as box:
        assert seen(box, "import sys, xml.dom, os; [sys.prefix, os.listdir('/tmp')]")[0] == str(tmp_path / "venv")  # type: ignore[index]


def test_the_writable_places_share_one_size(box: Sandbox) -> None:
    source = """
    total = 0
    for place in ("/workspace", "/tmp", "/dev/shm"):
        try:
            with open(place + "/x", "wb", buffering=0) as file:
                while True: total += file.write(b"x" * 65536)
        except OSError: pass
    total
    """
    result = box.run(textwrap.dedent(source), limits=Limits(disk="2M"))
    assert isinstance(result.value, int)
    assert result.value <= 2 << 20
    assert "disk" in result.limits_hit
    result = box.run("for i in range(1000): open(f'{i}', 'w').close()", limits=Limits(files=50))
    assert result.outcome is Outcome.FAILED
    assert "files" in result.limits_hit


def test_processors_are_seen_and_held_as_the_limit_says(box: Sandbox) -> None:
    source = "import os; (os.cpu_count(), len(os.sched_getaffinity(0)))"
    assert box.run(source, limits=Limits(cpus=0.5)).value == [1, 1]
    spin = "import os; os.fork(); end = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nos.wait()"
    free, held = (box.run(f"import time\n{spin}", limits=Limits(cpus=cpus)) for cpus in (None, 0.25))
    if held.report.layer("cpus").state == "enforced":
        used = [result.usage.cpu_user + result.usage.cpu_system for result in (held, free)]
        assert used[0] < 0.6 * used[1]
    else:
        need("cgroup")


@pytest.mark.parametrize("limits", [Limits(memory="1M"), Limits(processes=5_000_000), Limits(wall="40d")])
def test_odd_limits(box: Sandbox, limits: Limits) -> None:
    """Less than a cell uses that has done nothing, more than the kernel has, more than poll(2) takes."""
    for _ in range(3):
        result = box.run("print(1)", limits=limits)
        assert result.ok or (result.outcome is Outcome.OUT_OF_MEMORY and limits.memory == 1 << 20)
        time.sleep(0.1)  # for a cell that has rehearsed


def test_processor_time_of_children_that_nobody_waits_for(box: Sandbox) -> None:
    need("root", "cgroup")
    source = """
    import os, signal, time
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(10):
        if os.fork() == 0:
            while time.process_time() < 0.05: pass
            os._exit(0)
        try: os.wait()
        except ChildProcessError: pass
    """
    result = box.run(textwrap.dedent(source), limits=Limits(cpu="10s"))
    assert result.ok
    assert result.usage.cpu_user + result.usage.cpu_system > 0.4


# Users and namespaces.


def test_the_user_is_nobody_to_the_host(box: Sandbox) -> None:
    assert seen(box, "import os; [os.getuid(), os.getgid(), os.getgroups(), os.uname().nodename]") == [
        1000,
        1000,
        [],
        "belljar",
    ]
    outside = [line.split() for line in str(seen(box, "open('/proc/self/uid_map').read()")).splitlines()]
    assert outside[0][::2] == ["1000", "1"]


def test_each_living_cell_has_a_user_of_its_own(box: Sandbox) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: only root has other users to give")
    streams = [box.stream("print('up', flush=True); input()", stdin=iter_forever()) for _ in range(3)]
    users = set()
    for stream in streams:
        next(stream)
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
            users.add(os.stat(f"/proc/{entry}").st_uid)
    users = {uid for uid in users if uid >= 1_900_000_000}
    for stream in streams:
        stream.close()
    assert len(users) >= 3


def iter_forever() -> Iterator[str]:
    while True:
        yield ""


def test_the_network_is_a_loopback_of_its_own(box: Sandbox) -> None:
    assert seen(box, "import socket; [name for _, name in socket.if_nameindex()]") == ["lo"]
    source = """
    import socket
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    try: socket.create_connection(("192.0.2.1", 80), timeout=1)
    except OSError as error: reason = error.strerror
    reason
    """
    assert seen(box, source) == "Network is unreachable"


def test_the_network_of_the_host_has_to_be_asked_for() -> None:
    with Sandbox(Policy(network="host")) as box:
        result = box.run("import socket; sorted(name for _, name in socket.if_nameindex())")
    assert result.value == sorted(os.listdir("/sys/class/net"))
    assert result.report.layer("network").state == "missing"


# Mounts.


def needs_id_maps(path: Path) -> None:
    """Root shows a directory to a cell by an id map, which a tmpfs takes from Linux 6.3 on."""
    release = tuple(int(part) for part in os.uname().release.replace("-", ".").split(".")[:2])
    kind = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=True).stdout.strip()
    if os.geteuid() == 0 and release < (6, 3) and kind == "tmpfs":
        pytest.skip(f"needs id maps on {kind}, which Linux {os.uname().release} has not")


def test_mounts(tmp_path: Path) -> None:
    needs_id_maps(tmp_path)
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    out.mkdir()
    (data / "in").write_text("given")
    (data / "in").chmod(0o600)
    mounts = [Mount(source=data, target="/data"), Mount(source=out, target="/mnt/deep/out", mode="rw")]
    with Sandbox(Policy(mounts=mounts)) as box:
        source = """
        import os
        text = open("/data/in").read()
        try: open("/data/new", "w")
        except OSError as error: text += error.strerror
        open("/mnt/deep/out/new", "w").write("made")
        [text, os.stat("/data/in").st_uid]
        """
        assert seen(box, source) == ["givenRead-only file system", 1000]
    assert (out / "new").read_text() == "made"
    assert (out / "new").stat().st_uid == os.geteuid()


def test_a_directory_can_be_worked_on_in_place(tmp_path: Path) -> None:
    needs_id_maps(tmp_path)
    (tmp_path / "before").write_text("1")
    with Sandbox(Policy(mounts=[Mount(source=tmp_path, target="/workspace", mode="rw")])) as box:
        first = box.run("open('after', 'w').write(open('before').read() + '2')")
        assert (first.ok, first.files) == (True, {})
        assert box.run("open('after').read()").value == "12"
    assert (tmp_path / "after").read_text() == "12"


@pytest.mark.parametrize("target", ["/usr", "/proc/x", "/tmp/below", "/workspace/below", "/etc/passwd"])
def test_a_mount_over_what_is_ours_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(PolicyError, match=r"mount\.target"):
        belljar.run("1", policy=Policy(mounts=[Mount(source=tmp_path, target=target)]))
    with pytest.raises(PolicyError, match=r"mount\.source"):
        belljar.run("1", policy=Policy(mounts=[Mount(source=tmp_path / "missing", target="/x")]))


# Denials.


def test_denials_are_counted_when_asked_for() -> None:
    source = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    for _ in range(3): libc.unshare(0x10000000)
    [libc.mount(b"a", b"/tmp", b"tmpfs", 0, None), ctypes.get_errno()]
    """
    with Sandbox(Policy(trace_denials=True)) as box:
        result = box.run(textwrap.dedent(source))
    assert result.value == [-1, 1]
    assert {denial.name: denial.count for denial in result.denials} == {"mount": 1, "unshare": 3}
    with Sandbox() as box:
        assert box.run(textwrap.dedent(source)).denials == ()


def test_a_flood_of_denials_slows_the_program_only() -> None:
    source = "import ctypes\nlibc = ctypes.CDLL(None)\nwhile True: libc.unshare(0x10000000)"
    with Sandbox(Policy(trace_denials=True)) as box:
        result = box.run(source, limits=Limits(wall=2, grace=0.2))
    assert result.outcome is Outcome.TIMED_OUT
    assert result.denials[0].count < 4000
    assert result.usage.cpu_user + result.usage.cpu_system < 1


# Levels, each by really taking away what the one above it needs.

WITHOUT_NAMESPACES = """
import ctypes, json, os
uid, gid = os.getuid(), os.getgid()
assert ctypes.CDLL(None).unshare(0x10000000) == 0
for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
    open(f"/proc/self/{name}", "w").write(text)
open("/proc/sys/user/max_user_namespaces", "w").write("0")
import belljar
from belljar import Policy
try:
    belljar.run("1")
except belljar.SetupError as error:
    print(json.dumps([error.layer, str(error)]))
result = belljar.run(%r, policy=Policy(level="reduced"))
print(json.dumps([result.report.level, result.value, result.stderr]))
"""
LOOK_AROUND = """
import os, signal, socket
found = []
for path in ("/etc/shadow", "/etc/passwd", "/proc/1/status", "/home", "/var", "/tmp", "/root", %r):
    try: os.listdir(path) if os.path.isdir(path) else open(path).read(); found.append(path)
    except OSError: pass
try: socket.socket(); found.append("socket")
except OSError: pass
open("own", "w").write("x")
found
"""


def ordinary(program: str, *arguments: str) -> list[str]:
    """What a program of an ordinary user prints, with an interpreter and a belljar that it can read."""
    python = next((name for name in ("/usr/bin/python3",) if _can_run(name)), None)
    if os.geteuid() != 0:
        python = sys.executable
    if python is None:
        pytest.skip("needs a Python of 3.11 or newer that an ordinary user can run")
    copy = Path("/tmp") / f"belljar-copy-{os.urandom(4).hex()}"
    shutil.copytree(Path(belljar.__file__).parent, copy / "belljar", ignore=shutil.ignore_patterns("__pycache__"))
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    try:
        subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(copy), "TMPDIR": "/tmp"}
        done = subprocess.run(
            [*drop, python, "-c", program, *arguments], capture_output=True, text=True, env=environment, timeout=60
        )
    finally:
        shutil.rmtree(copy)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _can_run(python: str) -> bool:
    if not os.path.exists(python):
        return False
    return subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).returncode == 0


def test_as_an_ordinary_user_the_level_is_rootless_or_full() -> None:
    program = (
        "import belljar; r = belljar.run('6 * 7'); print(r.value, r.report.level, r.report.layer('network').state)"
    )
    assert ordinary(program)[0] in ("42 rootless enforced", "42 full enforced")


TAME_ROOTS = {
    "without CAP_SYS_ADMIN": ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
    "without CAP_SETUID": ["setpriv", "--bounding-set=-setuid", "--inh-caps=-setuid"],
    "of a small user namespace": ["unshare", "--map-root-user"],
}
WHO_IT_IS = """
import os, belljar
with belljar.Sandbox() as box:
    result = box.run("import os; open('x', 'w').close(); os.getuid()")
    print(os.geteuid(), result.value, result.report.level, result.report.layer("identity").detail, *result.files)
"""


@pytest.mark.parametrize("tame", TAME_ROOTS)
def test_a_root_who_may_little_is_treated_like_an_ordinary_user(tame: str) -> None:
    need("root")
    done = subprocess.run(
        [*TAME_ROOTS[tame], sys.executable, "-c", WHO_IT_IS], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert re.fullmatch("0 1000 (rootless|full) the caller's user on the host x\n", done.stdout), done.stdout


WITHOUT_GROUPS = """
import os
import belljar
from belljar.linux.mounts import make_private, mount
from belljar.linux.namespaces import Namespace, unshare
unshare(Namespace.MOUNT)
make_private()
mount("none", "/sys/fs/cgroup", "tmpfs")
result = belljar.run("b'x' * (1 << 30)", limits=belljar.Limits(memory="128M"))
print(result.report.level, result.report.layer("memory").state, result.outcome)
try:
    belljar.run("1", policy=belljar.Policy(level="full"))
except belljar.SetupError as error:
    print(error)
"""


def test_without_groups_the_level_is_rootless_and_full_is_refused() -> None:
    need("root")
    done = subprocess.run([sys.executable, "-c", WITHOUT_GROUPS], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    ran, refused = done.stdout.splitlines()
    assert ran == "rootless best_effort out_of_memory"
    assert "level: backend 'namespace' gives level 'rootless' here, and the policy's floor is 'full'" in refused


def test_without_user_namespaces_reduced_has_to_be_accepted(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o005)
    refused, ran = map(json.loads, ordinary(WITHOUT_NAMESPACES % (LOOK_AROUND % str(secret))))
    assert refused[0] == "namespaces"
    assert ran == ["reduced", [], ""]


SEEN = """
import belljar
print(belljar.run("import os; [name for name in os.listdir('/proc') if name.isdigit()]").value)
"""


def test_no_group_of_the_host_sees_other_processes() -> None:
    """Members of the group that proc is mounted with see all of it: by default that is the host's 0."""
    need("root")
    done = subprocess.run(
        [*TAME_ROOTS["without CAP_SYS_ADMIN"], sys.executable, "-c", SEEN], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("['2']\n", "")


# Claims.


SPEAK = """
import gc
for found in gc.get_objects():
    if type(found).__name__ == "Channel":
        found.claim("rejected", {"error": {"type": "SyntaxError", "message": "forged"}})
"""


@pytest.mark.parametrize("kind", ["run", "call"])
def test_a_codec_of_the_program_does_not_speak_before_it(box: Sandbox, kind: str) -> None:
    """The compiler imports what a cookie names: not from the files of the program."""
    source, files = "# coding: idna\ndef main(): return 1\nprint('real')", {"stringprep.py": SPEAK}
    request = CallRequest(source=source, function="main", files=files)
    result = box.run(source, files=files) if kind == "run" else box.call(request)
    assert result.error is None or result.error.message != "forged"


# The keeper.


def test_a_killed_keeper_leaves_nothing_for_long() -> None:
    with Sandbox() as box:
        assert box.run("1").value == 1
        (keeper,) = [keeper for keeper in box._engine.backend._keepers.values() if keeper._link]  # type: ignore[attr-defined]
        link = keeper._link
        pid = next(
            int(name)
            for name in os.listdir("/proc")
            if name.isdigit() and "boot.py" in _cmdline(name) and _parent(name) == 1 and _holds(name, link.owner)
        )
        os.kill(pid, 9)
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the keeper is gone")
        assert box.run("2").value == 2


@pytest.mark.parametrize("runs", range(1, 6))
def test_closing_does_not_wait_for_cells_that_are_being_made(runs: int) -> None:
    for _ in range(5):
        with Sandbox() as box:
            for _ in range(runs):
                assert box.run("1").ok
            began = time.monotonic()
        assert time.monotonic() - began < 5


FIRST_PROCESS = """
import os, belljar
from belljar.linux.processes import children
assert os.getpid() == 1
for _ in range(4):
    with belljar.Sandbox() as box:
        assert box.run("1").ok
with belljar.Sandbox() as box:
    box.run("1")
print(len(children(1)))
"""


def test_the_first_process_of_a_container_is_left_no_zombies() -> None:
    need("root")
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", sys.executable, "-c", FIRST_PROCESS],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    assert int(done.stdout) <= 2  # the last one, and the one before, which may have had a call to go


TOGETHER = """
import os, time
name = f"/shared/{os.urandom(8).hex()}"
open(name, "w").close()
most = 0
for _ in range(10):
    most = max(most, len(os.listdir("/shared")))
    time.sleep(0.01)
os.unlink(name)
most
"""


def test_200_at_once_and_never_more_than_64(tmp_path: Path) -> None:
    """All are answered; those that wait their turn cost little."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    needs_id_maps(tmp_path)
    results: list[belljar.Result] = []
    with Sandbox(Policy(mounts=(Mount(source=str(tmp_path), target="/shared", mode="rw"),))) as box:
        assert box.run("1").ok
        before = resident()
        threads = [threading.Thread(target=lambda: results.append(box.run(TOGETHER))) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert resident() - before < 30 << 20
    assert [result.outcome for result in results] == [Outcome.OK] * 200
    assert 2 < max(result.value for result in results) <= 64
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("backend", ["local", "namespace"])
def test_closing_while_others_run(backend: str) -> None:
    """A run that has a cell is cancelled, one that has none yet is told; nobody meets an error of the system."""
    ends: list[object] = []

    def run(box: Sandbox) -> None:
        try:
            while True:
                ends.append(box.run("1").outcome)
        except belljar.UsageError as error:
            ends.append(str(error))

    for pause in (0.0, 0.05, 0.2):
        box = Sandbox(backend=backend)
        threads = [threading.Thread(target=run, args=(box,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(pause)
        box.close()
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
    assert set(ends) <= {"ok", "cancelled", "lost", "the sandbox is closed: make a new one."}
    assert ends.count("the sandbox is closed: make a new one.") == 9


HOLD = """
from belljar.zygote.groups import Groups
groups = Groups({"memory": 1 << 26, "processes": 8})
print(groups._tree.place, flush=True)
input()
groups.close()
"""
SWEEPERS = {"here": [], "in another pid namespace": ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]}


@pytest.mark.parametrize("where", SWEEPERS)
def test_groups_are_swept_when_their_keeper_is_dead_and_never_before(where: str) -> None:
    """Its pid would say nothing to those who see other pids."""
    need("root", "cgroup")
    sweep = [*SWEEPERS[where], sys.executable, "-c", HOLD]
    keeper = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with keeper:
        assert keeper.stdout is not None
        place = keeper.stdout.readline().strip()
        subprocess.run(sweep, check=True, timeout=60, input="\n", text=True, stdout=subprocess.DEVNULL)
        assert os.path.isdir(place)
        keeper.kill()
    assert os.path.isdir(place)
    subprocess.run(sweep, check=True, timeout=60, input="\n", text=True, stdout=subprocess.DEVNULL)
    assert not os.path.exists(place)


def _cmdline(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _parent(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def _holds(pid: str, owner: int) -> bool:
    """Whether the process has a pidfd of `owner`, as the keepers of that process have."""
    try:
        return any(
            f"Pid:\t{owner}\n" in Path(f"/proc/{pid}/fdinfo/{fd}").read_text()
            for fd in os.listdir(f"/proc/{pid}/fdinfo")
        )
    except OSError:
        return False
