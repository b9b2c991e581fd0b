"""`belljar prove`: the corpus, the judges, the bait and the report."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from belljar.errors import UsageError
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.output import OutputFile
from belljar.prove import report
from belljar.prove.attacks import CATEGORIES, USUAL, Attack, corpus, load, read_header
from belljar.prove.canary import MARK, VARIABLE, Canary
from belljar.prove.judges import JUDGES, Evidence, State, Verdict, judge
from belljar.prove.runner import Proof, Tried, left_files, left_processes
from belljar.report import Level, Report
from belljar.result import Result
from belljar.testing.contract.base import wait_until
from belljar.usage import Usage

HEADER = '"""What is tried."""\nTITLE = "T"\nMUST_NOT = "M."\nSEVERITY = "high"\n'
ATTACKS = corpus()
DOCS = Path(__file__).parents[2] / "docs" / "prove.md"

pytestmark = pytest.mark.xdist_group("prove")  # with tests/security/test_prove.py


def attack(**more: Any) -> Attack:
    given: dict[str, Any] = {
        "name": "leaks/x",
        "what": "W",
        "title": "T",
        "must_not": "M.",
        "severity": "high",
        "source": "",
        "limits": Limits.from_dict(USUAL),
    }
    return Attack(**{**given, **more})


def result(stdout: str = "", outcome: Outcome = Outcome.OK, **more: Any) -> Result:
    return Result(
        id="r",
        outcome=outcome,
        stdout=stdout,
        usage=more.pop("usage", Usage()),
        limits=Limits(),
        report=Report(level=Level.NONE),
        **more,
    )


def verdict(stdout: str = "", outcome: Outcome = Outcome.OK, *, of: Attack | None = None, **more: Any) -> Verdict:
    traces = more.pop("traces", [])
    return judge(Evidence(attack=of or attack(), results=[result(stdout, outcome, **more)], traces=traces))


# The corpus


def test_corpus_is_large_enough() -> None:
    assert len(ATTACKS) >= 66
    assert {one.category for one in ATTACKS} == set(CATEGORIES)
    assert len({one.name for one in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_header(one: Attack) -> None:
    assert one.what.endswith(".")
    assert one.must_not.endswith(".")
    assert len(one.title) <= 45
    assert one.judge in JUDGES
    assert "|" not in one.title + one.must_not
    assert all(outcome in {known.value for known in Outcome} for outcome in one.expect)
    assert bool(one.expect) == (one.judge in ("expected", "outcome_is_ours", "no_value", "plain_value"))
    compile(one.source, one.name, "exec")


def test_corpus_is_documented() -> None:
    assert report.markdown(ATTACKS) in DOCS.read_text()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('TITLE = "T"\nMUST_NOT = "M."\nSEVERITY = "high"\n', "docstring"),
        ('"""W."""\nTITLE = "T"\nSEVERITY = "high"\n', "MUST_NOT"),
        ('"""W."""\nTITLE = 5\nMUST_NOT = "M."\nSEVERITY = "high"\n', "TITLE"),
    ],
)
def test_bad_header(source: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_header(source, "leaks/x")


def test_header_is_not_executed(tmp_path: Path) -> None:
    (tmp_path / "leaks").mkdir()
    file = tmp_path / "leaks" / "x.py"
    file.write_text(HEADER + 'LIMITS = {"wall": "2s"}\nRUNS = "twice"\nraise SystemExit\n')
    loaded = load(str(file))
    assert (loaded.name, loaded.category, loaded.runs, loaded.limits.wall) == ("leaks/x", "leaks", "twice", 2.0)
    assert loaded.limits.processes == USUAL["processes"]
    file.write_text(HEADER.replace("high", "awful"))
    with pytest.raises(UsageError, match="SEVERITY"):
        load(str(file))


# The judges


@pytest.mark.parametrize(
    ("stdout", "outcome", "state"),
    [
        ("HELD EPERM\n", Outcome.OK, State.HELD),
        ("noise\nHELD\n", Outcome.OK, State.HELD),
        ("", Outcome.OK, State.UNCLEAR),
        ("HELDER\n", Outcome.OK, State.UNCLEAR),
        (" HELD\n", Outcome.OK, State.UNCLEAR),
        ("HELD\n", Outcome.CRASHED, State.UNCLEAR),
        ("HELD\n", Outcome.TIMED_OUT, State.UNCLEAR),
        ("HELD\n", Outcome.LOST, State.UNCLEAR),
        ("HELD\nBROKEN so\n", Outcome.OK, State.BROKE),
        ("BROKEN so\n", Outcome.TIMED_OUT, State.BROKE),
    ],
)
def test_own_word(stdout: str, outcome: Outcome, state: State) -> None:
    assert verdict(stdout, outcome).state is state


def test_facts_of_the_host_come_first() -> None:
    found = verdict("HELD\n", traces=["process 5 was left behind"])
    assert found == Verdict(State.BROKE, "process 5 was left behind")


@pytest.mark.parametrize(
    ("name", "expect", "stdout", "more", "state"),
    [
        ("expected", ("timed_out",), "", {"outcome": Outcome.TIMED_OUT}, State.HELD),
        ("expected", ("timed_out",), "", {"outcome": Outcome.TIMED_OUT, "usage": Usage(wall=60)}, State.BROKE),
        ("expected", ("timed_out",), "HELD x\n", {}, State.HELD),
        ("expected", ("timed_out",), "", {}, State.UNCLEAR),
        ("expected", ("timed_out",), "HELD\n", {"outcome": Outcome.CRASHED}, State.UNCLEAR),
        ("outcome_is_ours", ("failed",), "TRIED\n", {"outcome": Outcome.FAILED}, State.HELD),
        ("outcome_is_ours", ("failed",), "", {"outcome": Outcome.FAILED}, State.UNCLEAR),
        ("outcome_is_ours", ("failed",), "TRIED\n", {}, State.BROKE),
        ("no_value", ("ok",), "TRIED\n", {"value": "FORGED", "has_value": True}, State.BROKE),
        ("no_value", ("ok",), "TRIED\n", {}, State.HELD),
        ("plain_value", ("ok",), "TRIED\n", {"value": {"a": [1, "b"]}, "has_value": True}, State.HELD),
        ("plain_value", ("ok",), "TRIED\n", {"value": {"a": object()}, "has_value": True}, State.BROKE),
        ("bounded_output", (), "x" * 300_000, {}, State.BROKE),
        ("bounded_output", (), "x", {}, State.UNCLEAR),
        ("bounded_output", (), "x", {"stdout_dropped": 9}, State.HELD),
        ("bounded_disk", (), "WRITTEN bytes 1000\n", {}, State.HELD),
        ("bounded_disk", (), "WRITTEN bytes 99000000\n", {}, State.BROKE),
        ("bounded_disk", (), "WRITTEN files 9000\n", {}, State.BROKE),
        ("bounded_disk", (), "", {}, State.UNCLEAR),
        ("files_are_harmless", (), "PLANTED\n", {}, State.HELD),
        ("files_are_harmless", (), "", {}, State.UNCLEAR),
        ("nothing_left", (), "STARTED\n", {}, State.HELD),
        ("nothing_left", (), "", {}, State.UNCLEAR),
        ("not_the_hosts", (), "VALUE user=belljar-no-such\nHELD\n", {}, State.HELD),
        ("not_the_hosts", (), f"VALUE hostname={os.uname().nodename}\nHELD\n", {}, State.BROKE),
    ],
)
def test_judge(name: str, expect: tuple[str, ...], stdout: str, more: dict[str, Any], state: State) -> None:
    outcome = more.pop("outcome", Outcome.OK) if "outcome" in (more := dict(more)) else Outcome.OK
    assert verdict(stdout, outcome, of=attack(judge=name, expect=expect), **more).state is state


@pytest.mark.parametrize(
    ("name", "data", "mode"), [("../x", b"", 0o644), ("x", b"root:x:0:0:", 0o644), ("x", b"x", 0o4755)]
)
def test_harmful_files(name: str, data: bytes, mode: int) -> None:
    file = OutputFile(name="x", data=data, mode=0o644)
    for field, value in (("name", name), ("mode", mode)):
        object.__setattr__(file, field, value)
    found = verdict("PLANTED\n", of=attack(judge="files_are_harmless"), files={name: file})
    assert found.state is State.BROKE


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("VALUE a=1\n", "VALUE a=2\n", State.HELD),
        ("VALUE a=1\n", "VALUE a=1\n", State.BROKE),
        ("VALUE a=1\n", "", State.UNCLEAR),
        ("", "", State.UNCLEAR),
    ],
)
def test_values_of_two_runs(first: str, second: str, state: State) -> None:
    of = attack(judge="values_differ", runs="twice")
    assert judge(Evidence(attack=of, results=[result(first), result(second)])).state is state


def test_meanwhile() -> None:
    for name, during in (("not_reached", "knock"), ("caller_not_starved", "watch")):
        of = attack(judge=name, during=during)
        assert judge(Evidence(attack=of, results=[result("HELD\n")], met=True)).state is State.BROKE
        assert judge(Evidence(attack=of, results=[result("HELD\n")])).state is State.HELD
        assert judge(Evidence(attack=of, results=[result("")])).state is State.UNCLEAR


def test_both_runs_must_have_held() -> None:
    evidence = Evidence(attack=attack(runs="twice"), results=[result(""), result("HELD\n")])
    assert judge(evidence).state is State.UNCLEAR


# The bait


def test_canary_notices_and_goes() -> None:
    with Canary() as canary:
        told = dict(canary.told)
        assert MARK not in json.dumps(told)
        assert canary.damage() == []
        with socket.create_connection(("127.0.0.1", told["tcp"])) as client:
            client.sendall(b"jp123")
            assert canary.leaked(client.recv(100).decode()) == ["socket"]
        with open(os.path.join(told["box"], "jp456"), "w"):
            pass
        heard = ["a socket of the host got its message"]  # by a thread, which has answered before it listens
        wait_until(lambda: canary.touched_by("jp123") == heard, "the message was heard")
        assert canary.touched_by("jp456") == ["jp456 is in a directory of the host"]
        assert canary.touched_by("jp789") == []
        assert len(canary.damage()) == 2
        assert os.environ[VARIABLE] in canary.secrets.values()
        assert Path(f"/proc/{told['victim']}").exists()
    assert VARIABLE not in os.environ
    assert not Path(told["directory"]).exists()
    assert not Path(told["shm"]).exists()
    assert not Path(f"/proc/{told['victim']}").exists()


def test_leftovers_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("belljar.prove.runner._PLACES", (str(tmp_path),))
    monkeypatch.setattr("belljar.prove.runner._PATIENCE", 0.0)
    (tmp_path / "a-jp1").touch()
    assert left_files("jp1") == [str(tmp_path / "a-jp1")]
    assert left_files("jp2") == []
    token = f"jp{os.urandom(6).hex()}"
    with subprocess.Popen([sys.executable, "-c", "input()", token], stdin=subprocess.PIPE) as child:
        try:
            # The kernel closes what exec closes before it shows the new command line.
            wait_until(lambda: left_processes(token) == [child.pid], "it is found")
        finally:
            child.kill()
    assert left_processes(token) == []


# The report and the command


def test_report() -> None:
    tried = [
        Tried(attack=attack(), verdict=Verdict(State.HELD, by="seccomp: EPERM")),
        Tried(attack=attack(name="leaks/y"), verdict=Verdict(State.BROKE, "\x1b[2Jsees\nall" + "x" * 500)),
    ]
    proof = Proof(backend="namespace", level="full", tried=tried)
    assert not proof.holds
    lines = list(report.lines(proof))
    assert lines[1].split() == ["leaks/x", "high", "held", "seccomp:", "EPERM"]
    assert "?[2Jsees?all" in lines[2]
    assert "\x1b" not in lines[2]
    assert len(lines[2]) < 250
    assert report.summary(proof) == "namespace (level full): 1 held, 1 broke of 2 attacks in 0.0 s"
    form = report.to_dict(proof)
    assert (form["held"], form["broke"], form["holds"]) == (1, 1, False)
    assert json.loads(json.dumps(form))["attacks"][1]["reason"].startswith("\x1b")


@pytest.mark.parametrize(
    ("state", "damage", "holds"),
    [
        (State.HELD, [], True),
        (State.SKIPPED, [], True),
        (State.UNCLEAR, [], False),
        (State.BROKE, [], False),
        (State.HELD, ["x"], False),
    ],
)
def test_when_it_holds(state: State, damage: list[str], holds: bool) -> None:
    proof = Proof(backend="b", tried=[Tried(attack=attack(), verdict=Verdict(state))], damage=damage)
    assert proof.holds is holds


def test_nothing_proves_nothing() -> None:
    assert not Proof(backend="b").holds


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "belljar", "prove", *words], capture_output=True, text=True, check=False, timeout=60
    )


def test_list() -> None:
    done = command("--list", "--category", "network")
    assert done.returncode == 0
    assert "network/loopback_tcp" in done.stdout
    assert "leaks/" not in done.stdout


@pytest.mark.parametrize("words", [("--only", "nothing/*"), ("--category", "x"), ("--workers", "0")])
def test_wrong_usage(words: tuple[str, ...]) -> None:
    assert command(*words).returncode == 2
