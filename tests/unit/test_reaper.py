"""Process trees are ended for good. All of it in a child: the test process must not become a subreaper."""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needs import need

from belljar.linux import prctl
from belljar.linux.processes import children, descendants, parent, sample
from belljar.linux.reaper import end_strays, reap
from belljar.testing.contract.base import tagged, unique, wait_until


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("linux")


def in_child(body: Callable[[], object]) -> None:
    """Run `body` in a forked child that adopts orphans; what it leaves alive is killed, and then the test fails."""
    outlet, inlet = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(outlet)
        try:
            prctl.adopt_orphans()
            body()
            os._exit(0)
        except BaseException:  # noqa: BLE001
            os.write(inlet, traceback.format_exc().encode())
        finally:
            for left in descendants(os.getpid()):
                os.kill(left, signal.SIGKILL)
            os._exit(1)
    os.close(inlet)
    with os.fdopen(outlet) as said:
        text = said.read()
    assert os.waitpid(pid, 0)[1] == 0, text


def forked(body: Callable[[], object]) -> int:
    """The pid of a child that runs `body`, and then waits to be killed."""
    pid = os.fork()
    if pid == 0:
        try:
            body()
        finally:
            while True:
                signal.pause()
    return pid


def sleeper() -> int:
    return forked(lambda: None)


def daemon(tag: str) -> None:
    """Leave a process of its own session that nobody waits for."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(300)", tag])
        os._exit(0)
    os.waitpid(pid, 0)


def test_nothing_to_end() -> None:
    in_child(lambda: _assert(end_strays() == ([], True)))


def _assert(good: object) -> None:
    assert good


@pytest.mark.parametrize("number", [1, 5])
def test_children_and_what_they_ended_with(number: int) -> None:
    def body() -> None:
        pids = {sleeper() for _ in range(number)}
        ended, over = end_strays()
        assert over
        assert {gone.pid for gone in ended} == pids
        assert all(os.WTERMSIG(gone.status) == signal.SIGKILL for gone in ended)
        assert all(gone.memory_peak > 0 for gone in ended)
        with pytest.raises(ChildProcessError):
            reap()

    in_child(body)


def test_a_child_that_had_ended_keeps_its_status() -> None:
    def body() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(7)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        ended, over = end_strays()
        assert over
        assert [os.waitstatus_to_exitcode(gone.status) for gone in ended] == [7]

    in_child(body)


def test_daemons() -> None:
    tag = unique()

    def body() -> None:
        forked(lambda: daemon(tag))
        for _ in range(3):
            daemon(tag)
        wait_until(lambda: len(tagged(tag)) == 4, "the daemons run")
        assert end_strays()[1]
        assert tagged(tag) == []
        assert children(os.getpid()) == []

    in_child(body)


def test_a_deep_tree() -> None:
    def chain(levels: int) -> None:
        if levels:
            forked(lambda: chain(levels - 1))

    def body() -> None:
        chain(30)
        wait_until(lambda: len(descendants(os.getpid())) == 30, "the chain runs")
        pids = descendants(os.getpid())
        ended, over = end_strays()
        assert over
        assert {gone.pid for gone in ended} == set(pids)

    in_child(body)


def test_a_chain_that_forks_and_leaves() -> None:
    def run_away(until: float) -> None:
        while time.monotonic() < until:
            if os.fork():
                os._exit(0)

    def body() -> None:
        limit = time.monotonic() + 30
        if os.fork() == 0:
            run_away(limit)
            os._exit(0)
        wait_until(lambda: children(os.getpid()), "the chain runs")
        ended, over = end_strays(within=20)
        assert over
        assert time.monotonic() < limit, "it was caught because it ended by itself"
        assert ended
        assert children(os.getpid()) == []

    in_child(body)


def test_a_fork_bomb_of_bounded_size() -> None:
    """Every process forks as long as there are fewer than 60 of them, which a byte in a pipe each stands for."""

    def grow(places: int, until: float) -> None:
        while time.monotonic() < until:
            try:
                os.read(places, 1)
            except BlockingIOError:
                os.sched_yield()
                continue
            if os.fork() == 0:
                continue

    def body() -> None:
        outlet, inlet = os.pipe()
        os.set_blocking(outlet, False)
        os.write(inlet, b"x" * 55)
        if os.fork() == 0:
            grow(outlet, time.monotonic() + 30)
            os._exit(0)
        wait_until(lambda: len(descendants(os.getpid())) > 20, "the bomb grows")
        ended, over = end_strays(within=20)
        assert over
        assert len(ended) > 20
        assert children(os.getpid()) == []

    in_child(body)


def test_what_is_kept_lives_with_all_below_it() -> None:
    def body() -> None:
        kept = forked(sleeper)
        forked(sleeper)
        sleeper()
        wait_until(lambda: len(descendants(os.getpid())) == 5, "all run")
        below = children(kept)
        ended, over = end_strays(keep={kept})
        assert over
        assert len(ended) == 3
        assert children(os.getpid()) == [kept]
        assert children(kept) == below
        assert sample([kept, *below]).processes == 2
        ended, over = end_strays()
        assert (len(ended), over, children(os.getpid())) == (2, True, [])

    in_child(body)


def test_a_stopped_process_is_ended_too() -> None:
    def body() -> None:
        pid = sleeper()
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        assert end_strays()[1]

    in_child(body)


def test_one_that_ignores_everything_is_ended_too() -> None:
    def deaf() -> None:
        for signum in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(signum, signal.SIG_IGN)

    def body() -> None:
        forked(deaf)
        assert end_strays()[1]

    in_child(body)


def test_reap() -> None:
    def body() -> None:
        with pytest.raises(ChildProcessError):
            reap()
        pid = sleeper()
        assert reap() is None
        os.kill(pid, signal.SIGTERM)
        gone = reap(pid, 0)
        assert gone is not None
        assert (gone.pid, os.waitstatus_to_exitcode(gone.status)) == (pid, -signal.SIGTERM)

    in_child(body)


def test_who_descends_from_whom() -> None:
    def body() -> None:
        child = forked(sleeper)
        wait_until(lambda: children(child), "the grandchild runs")
        (grandchild,) = children(child)
        assert children(os.getpid()) == [child]
        assert descendants(os.getpid()) == [child, grandchild]
        assert (parent(grandchild), parent(child)) == (child, os.getpid())
        assert end_strays()[1]
        assert parent(child) is None
        assert children(child) == descendants(child) == []

    in_child(body)


def test_a_name_does_not_confuse_it(tmp_path: Path) -> None:
    """/proc/PID/stat has the name of the program in it, which can be anything."""

    def named() -> None:
        Path("/proc/self/comm").write_text("x) R 1 (y) ")

    def body() -> None:
        pid = forked(named)
        wait_until(lambda: "R 1" in Path(f"/proc/{pid}/comm").read_text(), "it has its name")
        assert parent(pid) == os.getpid()
        assert sample([pid]).processes == 1
        assert end_strays()[1]

    in_child(body)


def test_a_sample() -> None:
    def fill() -> None:
        block = bytearray(os.urandom(1 << 20) * 32)
        os.write(inlet, b"x")
        while True:
            block[0] ^= 1

    outlet, inlet = os.pipe()

    def body() -> None:
        pid = forked(fill)
        os.read(outlet, 1)
        wait_until(lambda: sample([pid]).cpu > 0.05, "it uses CPU time")
        one = sample([pid])
        assert one.processes == 1
        assert one.memory > 32 << 20
        assert 32 << 20 <= sample([pid], 1).memory <= one.memory + (4 << 20)  # shared pages once
        assert end_strays()[1]
        assert sample([pid]) == (0, 0, 0.0)

    in_child(body)
    os.close(outlet)
    os.close(inlet)


def test_a_child_dies_with_its_parent() -> None:
    def body() -> None:
        outlet, inlet = os.pipe()

        def middle() -> None:
            if os.fork() == 0:
                prctl.die_with_parent(signal.SIGKILL)
                os.write(inlet, b"x")
                while True:
                    signal.pause()

        pid = forked(middle)
        os.read(outlet, 1)
        (grandchild,) = children(pid)
        os.kill(pid, signal.SIGKILL)
        ended = {pid: reap(pid, 0), grandchild: reap(grandchild, 0)}  # it is an orphan, and so ours
        assert all(gone is not None and os.WTERMSIG(gone.status) == signal.SIGKILL for gone in ended.values())

    in_child(body)


def test_prctl_says_what_went_wrong() -> None:
    with pytest.raises(OSError, match=r"prctl\(1\)") as caught:
        prctl.die_with_parent(1000)
    assert caught.value.errno == 22


def test_this_process_did_not_become_a_subreaper() -> None:
    """An orphan of a subprocess of ours does not come to us."""
    tag = unique()
    source = f"import os, sys, time\nif os.fork(): os._exit(0)\ntime.sleep(300)  # {tag}"
    subprocess.run([sys.executable, "-S", "-c", source], check=True)
    (orphan,) = tagged(tag)
    try:
        wait_until(lambda: parent(orphan) != os.getpid(), "it has another parent")
    finally:
        os.kill(orphan, signal.SIGKILL)
