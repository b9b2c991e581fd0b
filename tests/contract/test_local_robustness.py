"""The backend `local` among real processes: callers that die, processes that are shot, long and odd lives.

Every caller has a temporary directory of its own. Who has his working directory or an open file below it belongs to the
test, which is how processes are found here.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.needs import need

import belljar
from belljar.errors import SetupError
from belljar.linux.processes import children, descendants, parent
from belljar.outcome import Outcome
from belljar.result import Result
from belljar.sandbox import Sandbox
from belljar.testing.contract.base import tagged, unique, wait_until

SOURCE = Path(belljar.__file__).parents[1]


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("local")


def holders(base: Path) -> list[int]:
    """The processes that have something below `base` open, or are in it."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            places = [f"/proc/{name}/cwd", *(f"/proc/{name}/fd/{fd}" for fd in os.listdir(f"/proc/{name}/fd"))]
        except OSError:
            continue
        if any(link(place).startswith(f"{base}/") for place in places):
            found.append(int(name))
    return found


def link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def keepers(base: Path, owner: int) -> list[int]:
    """The keepers of `owner`: they have a pidfd of it and their work root open (and so has a zygote at its birth)."""
    found = [
        pid
        for pid in holders(base)
        if "boot.py" in read(f"/proc/{pid}/cmdline")
        and any(f"Pid:\t{owner}\n" in read(f"/proc/{pid}/fdinfo/{fd}") for fd in range(32))
    ]
    return [pid for pid in found if parent(pid) not in found]


def nothing_left(base: Path) -> None:
    wait_until(lambda: not holders(base), "all processes are gone", 20)
    wait_until(lambda: not os.listdir(base), f"{base} is empty", 20)


@contextmanager
def caller(base: Path, script: str, *args: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `script`, with `base` for its temporary files."""
    command = [sys.executable, "-W", "error", "-c", script, *args]
    environment = {**os.environ, "TMPDIR": str(base), **options.pop("env", {})}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def says(base: Path, script: str, *args: str, **options: Any) -> str:
    """What `script` prints; it must end well and leave nothing behind."""
    with caller(base, script, *args, stderr=subprocess.PIPE, **options) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    nothing_left(base)
    return out


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "base").mkdir()
    return tmp_path / "base"


# Callers that die.

BACKGROUND = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(300)", {tag!r}])
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(300)", {tag!r}])
print("started")
time.sleep(300)
"""
DYING = """
import os, sys, threading, time
from belljar import Sandbox
box = Sandbox(backend="local")
assert box.run("1").ok
if "FORK" in os.environ:
    pid = os.fork()
    if pid == 0:
        time.sleep(300)
    print(pid, flush=True)
def run():
    box.run(os.environ["PROGRAM"], on_stdout=lambda text: print(text, end="", flush=True))
threads = [threading.Thread(target=run) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("fork", [False, True], ids=["alone", "with a fork of it alive"])
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_caller_that_dies_leaves_nothing(base: Path, fork: bool, signum: signal.Signals) -> None:
    tag = unique()
    env = {"PROGRAM": BACKGROUND.format(tag=tag), **({"FORK": "1"} if fork else {})}
    with caller(base, DYING, env=env) as process:
        assert process.stdout is not None
        twin = int(process.stdout.readline()) if fork else None
        try:
            assert [process.stdout.readline() for _ in range(2)] == ["started\n"] * 2
            wait_until(lambda: len(tagged(tag)) == 4, "the processes of both runs are there")
            (keeper,) = keepers(base, process.pid)
            assert len(descendants(keeper)) >= 1 + 2 * 4
            process.send_signal(signum)
            process.wait()
            wait_until(lambda: tagged(tag) == [], "the runs are dead")
            wait_until(lambda: set(holders(base)) <= {twin}, "the keeper and its cells are gone", 20)
            wait_until(lambda: os.listdir(base) == [], "the work root is gone")
            wait_until(lambda: not os.path.exists(f"/proc/{keeper}"), "the keeper was reaped")
        finally:
            if twin is not None:
                os.kill(twin, signal.SIGKILL)


# Processes that are shot.


@pytest.fixture
def box(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A sandbox of this process, whose keeper works below `base`."""
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    with Sandbox(backend="local", parked=2) as made:
        yield made
    wait_until(lambda: not holders(base), "all processes are gone", 20)
    with Sandbox(backend="local") as last:
        assert last.run("1").ok  # a keeper that was shot leaves its work root to the next one
    nothing_left(base)


class Going(NamedTuple):
    """A run that goes on, in a thread of its own; its program says who it is, and ends when it is told to."""

    worker: int
    init: int
    stop: Callable[[], object]
    end: Callable[[], Result | BaseException]


def start(box: Sandbox, tag: str = "") -> Going:
    program = (
        "import os, subprocess, sys\n"
        + (f"subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(300)', {tag!r}])\n" if tag else "")
        + "print(os.getpid(), os.getppid())\nsys.stdin.read()"
    )
    outlet, inlet = os.pipe()
    said, lines, results = threading.Event(), list[str](), list[Result | BaseException]()

    def hear(text: str) -> None:
        lines.append(text)
        said.set()

    def run() -> None:
        try:
            with open(outlet, "rb") as stdin:
                results.append(box.run(program, stdin=stdin, on_stdout=hear))
        except BaseException as error:  # noqa: BLE001  it is looked at where the end is
            results.append(error)
        finally:
            said.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert said.wait(30)
    assert lines, results

    def end() -> Result | BaseException:
        thread.join(30)
        return results[0]

    worker, init = map(int, lines[0].split())
    return Going(worker, init, lambda: os.close(inlet), end)


def the_keeper(base: Path) -> int:
    """The keeper of this process, when there is just one."""
    wait_until(lambda: len(keepers(base, os.getpid())) == 1, "there is one keeper")
    return keepers(base, os.getpid())[0]


def the_zygote(base: Path) -> int:
    """The child of the keeper that has inherited the work root; the inits that the keeper adopts have closed it."""
    keeper = the_keeper(base)
    wait_until(lambda: len(zygotes(base, keeper)) == 1, "there is one zygote")
    return zygotes(base, keeper)[0]


def zygotes(base: Path, keeper: int) -> list[int]:
    held = holders(base)
    return [pid for pid in children(keeper) if pid in held]


def outcomes(runs: list[Going]) -> list[str]:
    """How they ended, by name: that of the outcome, or of the exception."""
    ended = [run.end() for run in runs]
    return [end.outcome.value if isinstance(end, Result) else repr(end) for end in ended]


def kill(pid: int) -> None:
    """SIGKILL, unless it has ended already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def alive(pid: int) -> bool:
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"], ["X"])


@pytest.mark.parametrize(
    ("victim", "first", "others"),
    [("worker", "crashed", "ok"), ("init", "lost", "ok"), ("zygote", "ok", "ok"), ("keeper", "lost", "lost")],
)
def test_who_is_hit_when_a_process_is_killed(base: Path, box: Sandbox, victim: str, first: str, others: str) -> None:
    tag = unique()
    runs = [start(box, tag) for _ in range(3)]
    wait_until(lambda: len(tagged(tag)) == 3, "each has a child")
    old = the_keeper(base)
    pids = {"worker": runs[0].worker, "init": runs[0].init, "zygote": the_zygote(base), "keeper": old}
    kill(pids[victim])
    if first != "ok":
        assert outcomes(runs[:1]) == [first]
    for run in runs:
        run.stop()
    assert outcomes(runs) == [first, others, others]
    if victim == "worker":
        ended = runs[0].end()
        assert isinstance(ended, Result)
        assert ended.signal == signal.SIGKILL
    # Who has shot an init hears of it by its socket; what was below it the zygote kills next.
    wait_until(lambda: tagged(tag) == [], "nothing of the runs is alive")
    assert box.run("6 * 7").value == 42
    assert (the_keeper(base) == old) is (victim != "keeper")
    if victim != "keeper":
        assert len(os.listdir(base)) == 1


@pytest.mark.parametrize("victim", ["worker", "init", "zygote", "keeper"])
def test_kills_at_random_moments(base: Path, box: Sandbox, victim: str) -> None:
    """Runs begin, go on and end while one of the processes is shot; 25 rounds for each."""
    chance = random.Random(victim)
    good = {"worker": {"crashed", "ok"}, "init": {"lost", "ok"}, "zygote": {"ok"}, "keeper": {"lost", "ok"}}[victim]
    for _ in range(25):
        runs = [start(box) for _ in range(3)]
        pids = {"worker": runs[0].worker, "init": runs[0].init}
        target = pids.get(victim) or (the_zygote(base) if victim == "zygote" else the_keeper(base))
        shot = threading.Timer(chance.random() * 0.006, kill, [target])
        shot.start()
        for run in runs:
            time.sleep(chance.random() * 0.003)  # so that it hits the beginning, the middle or the end
            run.stop()
        ends = outcomes(runs)
        shot.join()
        wait_until(lambda target=target: not alive(target), "it is dead")  # type: ignore[misc]
        assert ends[0] in good, ends
        assert set(ends[1:]) <= ({"lost", "ok"} if victim == "keeper" else {"ok"}), ends
        assert box.run("6 * 7").value == 42
    assert the_keeper(base)
    if victim != "keeper":
        assert len(os.listdir(base)) == 1


def test_cells_that_a_dead_zygote_owes_are_made_by_the_next_one(base: Path, box: Sandbox) -> None:
    assert all(box.run("1").ok for _ in range(3))  # from the second run on, two are parked
    zygote = the_zygote(base)
    (root,) = base.iterdir()
    wait_until(lambda: len(children(zygote)) == len(list(root.iterdir())) == 2, "two cells are parked, and no more")
    os.kill(zygote, signal.SIGSTOP)
    assert box.run("1").ok  # the keeper asks for another one in its place, and the zygote does not hear it
    kill(zygote)
    assert [box.run("6 * 7").value for _ in range(6)] == [42] * 6


@pytest.mark.parametrize("victim", ["zygote", "keeper"])
def test_kills_while_cells_are_made(base: Path, box: Sandbox, victim: str) -> None:
    """A keeper takes at most the run that goes on and its two parked cells with it; a zygote takes none."""
    chance = random.Random(victim)
    assert box.run("1").ok
    for _ in range(10):
        target = the_zygote(base) if victim == "zygote" else the_keeper(base)
        shot = threading.Timer(chance.random() * 0.02, kill, [target])
        shot.start()
        ends = [box.run("6 * 7").outcome.value for _ in range(6)]
        shot.join()
        wait_until(lambda target=target: not alive(target), "it is dead")  # type: ignore[misc]
        assert ends.count("lost") <= (3 if victim == "keeper" else 0), ends
        assert set(ends) <= {"ok", "lost"}
        assert box.run("6 * 7").ok


def test_no_zombies_after_a_zygote_has_died(base: Path, box: Sandbox) -> None:
    run = start(box)
    kill(the_zygote(base))
    wait_until(lambda: run.init in children(the_keeper(base)), "the init came to the keeper")
    run.stop()
    assert outcomes([run]) == ["ok"]
    for _ in range(5):
        assert box.run("1").ok
    wait_until(lambda: not os.path.exists(f"/proc/{run.init}"), "the init was reaped", 3)


# Long and crowded lives.

LONG = """
import sys
from belljar import Sandbox
box = Sandbox(backend="local", parked=1)
for number in (200, 1800):
    for i in range(number):
        result = box.run(f"print({i}); open('f', 'w').write('x'); {i}", stdin=b"x" * 100, files={"in": b"y"})
        assert (result.value, result.stdout, len(result.files)) == (i, f"{i}\\n", 1)
    print("done", flush=True)
    sys.stdin.readline()
"""


class Use(NamedTuple):
    descriptors: int
    threads: int
    children: int


def use(pid: int) -> Use:
    return Use(len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")), len(children(pid)))


def calm(pid: int) -> Use:
    """What a process uses when nothing changes any more: cells are made and buried after a run is over."""
    seen = [use(pid)]

    def same() -> bool:
        seen.append(use(pid))
        return len(seen) > 40 and len(set(seen[-40:])) == 1

    wait_until(same, "it has calmed down")
    return seen[-1]


def resident(pid: int) -> int:
    return int(read(f"/proc/{pid}/status").partition("VmRSS:")[2].split()[0]) * 1024


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_2000_runs_take_no_more_than_200(base: Path) -> None:
    with caller(base, LONG) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "done\n"
        (keeper,) = keepers(base, process.pid)
        (zygote,) = children(keeper)
        (root,) = base.iterdir()
        pids = [process.pid, keeper, zygote]
        parked = 1
        wait_until(
            lambda: len(children(zygote)) == parked and len(list(root.iterdir())) == parked, "it has calmed down"
        )
        before = [calm(pid) for pid in pids], [resident(pid) for pid in pids]
        process.stdin.write("on\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        assert [calm(pid) for pid in pids] == before[0]
        wait_until(lambda: len(list(root.iterdir())) == parked, "work directories are as before")
        assert list(base.iterdir()) == [root]
        growth = [now - then for now, then in zip(map(resident, pids), before[1], strict=True)]
        assert max(growth) < 10 << 20, growth
        process.stdin.write("end\n")
        process.stdin.flush()
        assert process.wait(30) == 0
    nothing_left(base)


def test_200_at_once_and_never_more_than_64(base: Path, box: Sandbox, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    program = (
        "import os, time\n"
        f"name = {str(inside)!r} + f'/{{os.getpid()}}'\n"
        "open(name, 'w').close(); most = 0\n"
        f"for _ in range(10): most = max(most, len(os.listdir({str(inside)!r}))); time.sleep(0.01)\n"
        "os.unlink(name)\n"
        "most"
    )
    results: list[Result] = []
    threads = [threading.Thread(target=lambda: results.append(box.run(program))) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.outcome for result in results] == [Outcome.OK] * 200
    assert 2 < max(result.value for result in results) <= 64
    wait_until(lambda: len(list(next(base.iterdir()).iterdir())) <= 2 + 2, "the work directories are gone")


# Odd callers.

ODD = {
    "run and map without a __main__ guard": """
        import belljar
        print(belljar.run("6 * 7", backend="local").value)
        print([result.value for result in belljar.map(["1", "2", "3"], backend="local", ordered=True)])
        """,
    "a thread": """
        import threading
        from belljar import Sandbox
        box = Sandbox(backend="local")
        values = []
        thread = threading.Thread(target=lambda: values.append(box.run("6 * 7").value))
        thread.start()
        thread.join()
        print(*values)
        print([result.value for result in box.map(["1", "2", "3"], ordered=True)])
        """,
    "the thread that started the keeper has ended": """
        import threading
        from belljar import Sandbox
        box = Sandbox(backend="local")
        thread = threading.Thread(target=box.run, args=["1"])
        thread.start()
        thread.join()
        link = box._engine.backend._keeper._link
        print(box.run("6 * 7").value)
        print([box.run(f"{i}").value for i in range(1, 4)])
        assert box._engine.backend._keeper._link is link and not link.dead
        """,
    "SIGCHLD is ignored": """
        import signal
        from belljar import Sandbox
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        box = Sandbox(backend="local")
        assert box.run("import sys; sys.exit(3)").exit_code == 3
        assert box.run("import os; os.kill(os.getpid(), 9)").signal == 9
        assert box.run("import subprocess; subprocess.run(['true']).returncode").value == 0
        print(box.run("6 * 7").value)
        print([result.value for result in box.map(["1", "2", "3"], ordered=True)])
        """,
    "every signal is blocked": """
        import signal
        from belljar import Limits, Sandbox
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        box = Sandbox(backend="local")
        assert box.run("import signal; [int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])]").value == []
        timed_out = box.run("import time; time.sleep(60)", limits=Limits(wall=0.2, grace=20))
        assert (timed_out.outcome, timed_out.usage.wall < 10) == ("timed_out", True)
        print(box.run("6 * 7").value)
        print([1, 2, 3])
        """,
    "few descriptors": """
        import resource, threading
        from belljar import Sandbox
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        box = Sandbox(backend="local")
        values = []
        threads = [threading.Thread(target=lambda: values.append(box.run("6 * 7").value)) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert values == [42] * 4
        for _ in range(30):
            assert box.run("1", stdin=b"x", files={"a": b"x"}).ok
        print(values[0])
        print([result.value for result in box.map(["1", "2", "3"], ordered=True, workers=3)])
        """,
    "a sandbox that is never closed": """
        from belljar import Sandbox
        print(Sandbox(backend="local").run("6 * 7").value)
        print([Sandbox(backend="local").run(f"{i}").value for i in (1, 2, 3)])
        """,
    "an end in the middle of a stream": """
        from belljar import Sandbox
        events = Sandbox(backend="local").stream("print('42 [1, 2, 3]'); import time; time.sleep(300)")
        print(next(events).text.strip())
        while True:
            break
        """,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_callers(base: Path, tmp_path: Path, name: str) -> None:
    script = tmp_path / "script.py"
    lines = ODD[name].strip("\n").splitlines()
    script.write_text("\n".join(line[8:] for line in lines) + "\n")
    out = says(base, f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')")
    assert out.split() == ["42", "[1,", "2,", "3]"]


def test_a_caller_with_closed_standard_streams(base: Path, tmp_path: Path) -> None:
    script = """
import os, sys
os.closerange(0, 3)
from belljar import Sandbox
heard = []
with Sandbox(backend="local") as box:
    result = box.run("import sys; print(sys.stdin.read()); print('e', file=sys.stderr); 6 * 7", stdin=b"in",
                     on_stdout=heard.append)
    again = [box.run(f"{i}").value for i in range(4)]
    held = [fd for fd in range(3) if os.path.exists(f"/proc/self/fd/{fd}")]
with open(sys.argv[1], "w") as file:
    print(result.outcome, result.value, repr(result.stdout), repr(result.stderr), heard, again, file=file)
os._exit(0)
"""
    assert says(base, script, str(tmp_path / "said")) == ""
    assert (tmp_path / "said").read_text() == "ok 42 'in\\n' 'e\\n' ['in\\n'] [0, 1, 2, 3]\n"


def test_no_descriptor_of_the_caller_is_seen_inside(base: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    number = min(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)
    script = f"""
import os
from belljar import Sandbox
secret = [os.open({str(tmp_path / "secret")!r}, os.O_RDONLY)]
secret += [os.dup(secret[0]) for _ in range({number})]
for fd in secret:
    os.set_inheritable(fd, True)
box = Sandbox(backend="local")
look = (
    "import os; names = ['/proc/self/fd/' + fd for fd in os.listdir('/proc/self/fd')];"
    "[os.readlink(name) for name in names if os.path.lexists(name)]"
)
for result in (box.run(look), box.run(look)):
    assert result.ok, result
    print(len(result.value), [name for name in result.value if "secret" in name])
"""
    for line in says(base, script).splitlines():
        seen, secrets = line.split(" ", 1)
        assert secrets == "[]"
        assert int(seen) < 10


def test_a_program_finds_its_own_descriptors_only(box: Sandbox) -> None:
    """The three streams and the guest's socket; the last one is that of the listing itself."""
    result = box.run("import os; len(os.listdir('/proc/self/fd')) - 1")
    assert result.value == 4


UNCHANGED = """
import ctypes, json, os, resource, signal, sys, threading
import belljar
from belljar.linux.processes import children
def state():
    adopts = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(adopts), 0, 0, 0)
    mask = os.umask(0)
    os.umask(mask)
    return {
        "umask": mask, "cwd": os.getcwd(), "environment": dict(os.environ), "path": list(sys.path),
        "handlers": [str(signal.getsignal(signum)) for signum in sorted(signal.valid_signals())],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "wakeup": signal.set_wakeup_fd(-1),
        "adopts": adopts.value, "session": os.getsid(0), "group": os.getpgrp(), "priority": os.nice(0),
        "limits": [resource.getrlimit(which) for which in range(16)], "streams": [str(sys.stdin), str(sys.stdout)],
        "children": children(os.getpid()), "threads": threading.active_count(), "argv": list(sys.argv),
    }
os.umask(0o027)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
before = state()
box = belljar.Sandbox(backend="local")
assert box.run("import os; os.umask(0); os.chdir('/'); os.environ['X'] = '1'").ok
assert not box.run("import time; time.sleep(60)", limits=belljar.Limits(wall=0.1, grace=0.1)).ok
assert [result.ok for result in box.map(["1", "2"])] == [True, True]
during = state()
box.close()
for now in (during, state()):
    assert now == before, [(name, now[name], before[name]) for name in before if now[name] != before[name]]
print("ok")
"""


def test_the_caller_is_as_it_was(base: Path) -> None:
    assert says(base, UNCHANGED) == "ok\n"


# An ordinary user.

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def interpreter_for_others() -> str:
    """A Python that an ordinary user can run."""
    for name in (sys.executable, shutil.which("python3", path=os.defpath), "/usr/local/bin/python3"):
        check = "import os, sys; sys.exit(sys.version_info < (3, 11) or not os.access(sys.executable, os.X_OK))"
        try:
            if name and subprocess.run([*NOBODY, name, "-I", "-c", check], capture_output=True).returncode == 0:
                return name
        except FileNotFoundError:
            pytest.skip("needs setpriv")
    pytest.skip("needs a Python of 3.11 or newer that an ordinary user can run")


def test_an_ordinary_user() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else: all other tests run as an ordinary user already")
    python = interpreter_for_others()
    place = Path(tempfile.mkdtemp(dir="/tmp"))  # where pytest puts tmp_path, others may not look
    try:
        place.chmod(0o755)
        shutil.copytree(SOURCE / "belljar", place / "source" / "belljar", ignore=shutil.ignore_patterns("__pycache__"))
        (place / "base").mkdir()
        os.chown(place / "base", 65534, 65534)
        script = (
            "import json\nfrom belljar import Limits, Sandbox\n"
            "with Sandbox(backend='local') as box:\n"
            '  first = box.run(\'import os; open("out", "w").write("x"); [os.getuid(), os.getgid()]\')\n'
            '  box.run(\'import os; os.makedirs("a/b"); os.chmod("a/b", 0); os.chmod("a", 0)\')\n'
            "  late = box.run('import time; time.sleep(60)', limits=Limits(wall=0.1, grace=0.1))\n"
            "  print(json.dumps([first.value, list(first.files), late.outcome]))\n"
        )
        env = {"TMPDIR": str(place / "base"), "PYTHONPATH": str(place / "source"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*NOBODY, python, "-W", "error", "-c", script]
        done = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == [[65534, 65534], ["out"], "timed_out"]
        nothing_left(place / "base")
    finally:
        shutil.rmtree(place)


def test_a_temporary_directory_that_is_missing(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller is told which, and nothing stays behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(base / "missing"))
    with Sandbox(backend="local") as box, pytest.raises(SetupError, match="base/missing"):
        box.run("1")
    assert os.listdir(base) == []
