"""Processes of ours are shot at random moments, 500 times, while runs go on: only those that are hit may be lost."""

import collections
import fcntl
import os
import random
import tempfile
import threading
import time
from pathlib import Path

import pytest
from tests.contract.test_local_robustness import holders, keepers, kill
from tests.needs import need

from belljar import Result, Sandbox
from belljar.linux.processes import children
from belljar.testing.contract.base import wait_until

ROUNDS = 500
SHARES = ["worker"] * 8 + ["init"] * 8 + ["zygote"] * 3 + ["keeper"]


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("userns")


def abandoned() -> set[str]:
    """The control groups of keepers that are dead: a living one, of another test, say, holds the lock of its own."""
    found = set()
    for top, folders, _ in os.walk("/sys/fs/cgroup"):
        if os.path.basename(top) == "belljar":
            found |= {place for place in (os.path.join(top, name) for name in folders) if _is_free(place)}
    return found


def _is_free(place: str) -> bool:
    try:
        fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def target(base: Path, victim: str, chance: random.Random) -> int | None:
    """Some process of that kind, by the tree below the keeper: zygote, inits, workers."""
    level = keepers(base, os.getpid())
    for _ in range(["keeper", "zygote", "init", "worker"].index(victim)):
        level = [child for pid in level for child in children(pid)]
    return chance.choice(level) if level else None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_500_shots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "base"
    base.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(base))
    before = abandoned()
    chance = random.Random(7)
    ends: collections.Counter[str] = collections.Counter()
    errors: list[BaseException] = []
    over = threading.Event()

    def runs(box: Sandbox) -> None:
        while not over.is_set():
            try:
                result = box.run("import time; time.sleep(0.01); 6 * 7")
                assert not result.ok or result.value == 42
                ends[kind(result)] += 1
            except BaseException as error:  # noqa: BLE001  it is looked at below
                errors.append(error)

    with Sandbox() as box:
        assert box.run("1").ok
        threads = [threading.Thread(target=runs, args=(box,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        shots = 0
        while shots < ROUNDS:
            victim = chance.choice(SHARES)
            pid = target(base, victim, chance)
            if pid is not None:
                kill(pid)
                shots += 1
            if victim == "keeper" and chance.random() < 0.7:  # ten that die young in a row are refused, with reason
                wait_until(lambda: target(base, "worker", chance) is not None, "another keeper has a cell")
            time.sleep(chance.random() * 0.01)
        over.set()
        for thread in threads:
            thread.join()
        assert [repr(error) for error in errors] == []
        assert set(ends) <= {"ok", "lost", "killed"}, ends
        assert ends["ok"] > 20, ends  # they went on
        assert box.run("6 * 7").value == 42
    wait_until(lambda: not holders(base), "all processes are gone", 20)
    wait_until(lambda: swept(base) and abandoned() <= before, "the work roots and groups are gone", 30)


def swept(base: Path) -> bool:
    """What keepers that were shot have left is swept by the next one, once the last of their processes is dead."""
    with Sandbox() as last:
        assert last.run("1").ok
    return not os.listdir(base)


def kind(result: Result) -> str:
    """A worker that is shot has crashed by signal 9; nothing else may."""
    return "killed" if result.outcome == "crashed" and result.signal == 9 else result.outcome.value
