"""The command line: what it means, what it says, and what it does not import."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.surface import markdown
from tests.surface.tree import ROOT

from belljar.cli.asked import Asked
from belljar.cli.exits import EXIT_CODES, exit_code
from belljar.cli.main import COMMANDS, command, overview
from belljar.cli.notes import notes
from belljar.cli.parser import Parser
from belljar.cli.screen import Plain
from belljar.errors import PolicyError, UsageError
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.report import Level, Report
from belljar.result import Result
from belljar.usage import Usage


def result(outcome: Outcome, **facts: Any) -> Result:
    facts.setdefault("limits", Limits())
    return Result(id="x", outcome=outcome, usage=Usage(), report=Report(level=Level.NONE), **facts)


def asked(**options: Any) -> Asked:
    given: dict[str, Any] = {"file": None, "code": "1", "language": "python", "level": None, "stdin": "-"}
    given |= {"args": [], "limits": {}, "inputs": [], "env": []}
    return Asked.of(**given | options)


# Exit codes


def test_every_outcome_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == set(Outcome)


@pytest.mark.parametrize(
    ("outcome", "facts", "expected"),
    [
        (Outcome.OK, {"exit_code": 0}, 0),
        (Outcome.FAILED, {"exit_code": 7}, 7),
        (Outcome.FAILED, {"exit_code": 0}, 1),  # a call without an answer: 0 would hide it
        (Outcome.REJECTED, {"exit_code": 1}, 1),
        (Outcome.OVER_LIMIT, {"signal": 9}, 122),
        (Outcome.TIMED_OUT, {"exit_code": 130}, 124),
        (Outcome.LOST, {}, 125),
        (Outcome.DENIED, {"signal": 31}, 126),
        (Outcome.CANCELLED, {}, 130),
        (Outcome.OUT_OF_MEMORY, {"signal": 9}, 137),
        (Outcome.CRASHED, {"signal": 11}, 139),
    ],
)
def test_exit_code(outcome: Outcome, facts: dict[str, Any], expected: int) -> None:
    assert exit_code(result(outcome, **facts)) == expected


# Notes


@pytest.mark.parametrize(
    ("outcome", "facts", "expected"),
    [
        (Outcome.OK, {}, []),
        (Outcome.FAILED, {"exit_code": 3}, []),
        (
            Outcome.TIMED_OUT,
            {"limits_hit": ("wall",), "limits": Limits(wall=2)},
            ["timed_out: stopped at its wall or CPU limit (wall 2s)"],
        ),
        (
            Outcome.OUT_OF_MEMORY,
            {"limits_hit": ("memory",)},
            ["out_of_memory: stopped at its memory limit (memory 512M)"],
        ),
        (
            Outcome.OVER_LIMIT,
            {"limits_hit": ("processes",)},
            ["over_limit: stopped at a limit other than time and memory (processes 64)"],
        ),
        (Outcome.CRASHED, {"signal": 11}, ["crashed: ended by a signal that it caused (SIGSEGV)"]),
        (Outcome.CRASHED, {"signal": 63}, ["crashed: ended by a signal that it caused (signal 63)"]),
        (Outcome.LOST, {}, ["lost: the sandbox failed, not the code: the run can be tried again"]),
        (
            Outcome.OK,
            {"limits_hit": ("files", "output"), "stdout_dropped": 1234567},
            ["1234567 bytes of stdout were dropped (limit output 1M)", "the limit files 4096 was reached"],
        ),
    ],
)
def test_notes(outcome: Outcome, facts: dict[str, Any], expected: list[str]) -> None:
    assert notes(result(outcome, **facts)) == expected


def test_every_outcome_can_be_told() -> None:
    for outcome in Outcome:
        lines = notes(result(outcome))
        assert bool(lines) is (outcome not in (Outcome.OK, Outcome.FAILED))
        assert all("\n" not in line and line.startswith(outcome) for line in lines)


# Output on a terminal


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"plain\ttext\r\n", "plain\ttext\r\n"),
        ("é 漢字 \N{NO-BREAK SPACE}🙂\n".encode(), "é 漢字 \N{NO-BREAK SPACE}🙂\n"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b[2J\x1b[Htop", "top"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bPdevice\x1b\\text", "text"),
        (b"\x1b]52;c;never ended\nnext", "\nnext"),
        (b"\x1bc\x1b(Btext", "text"),
        (b"\x1b7a\x1b8b\x1b=c", "abc"),
        ("\x9b31mred\x9d0;t\x9ctext".encode(), "redtext"),
        (b"a\x00\x07\x08\x0b\x0c\x0e\x7fb", "ab"),
        ("a\u202eb\u2066c\u2028d".encode(), "abcd"),
        (b"bad \xff\xc3", "bad \ufffd\ufffd"),
        (b"end \x1b", "end "),
        (b"end \x1b[31", "end "),
        (b"\x1b\x1b[31mx", "x"),
    ],
)
def test_only_text_reaches_a_terminal(data: bytes, expected: str) -> None:
    plain = Plain()
    assert plain.feed(data) + plain.feed(b"", final=True) == expected


@pytest.mark.parametrize("size", [1, 2, 3])
def test_sequences_come_in_pieces(size: int) -> None:
    data = "\x1b[1;31mréd\x1b[0m \x1b]8;;x\x1b\\l\x1b]8;;\x07\x1b(B!\x9b1m".encode()
    plain = Plain()
    pieces = [plain.feed(data[at : at + size]) for at in range(0, len(data), size)]
    assert "".join(pieces) + plain.feed(b"", final=True) == "réd l!"


def test_a_sequence_without_end_is_not_waited_for() -> None:
    plain = Plain()
    assert plain.feed(b"\x1b]" + b"x" * 10_000) == ""
    assert plain.feed(b"text") == "text"


# What the words mean


def test_after_code_every_word_is_for_the_program() -> None:
    run = asked(code="1", file="a", args=["b"])
    assert (run.request.source, run.request.args, run.request.filename) == ("1", ("a", "b"), None)


def test_a_file_gives_its_name(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_bytes(b"print('\xc3\xa9')")
    run = asked(code=None, file=str(file), args=["b"])
    assert (run.request.source, run.request.filename, run.request.args) == ("print('é')", "job.py", ("b",))


def test_inputs_have_names() -> None:
    run = asked(inputs=["some/a.csv", "in/b.csv=some/a=b.csv"])
    assert dict(run.request.files) == {"a.csv": Path("some/a.csv"), "in/b.csv": Path("some/a=b.csv")}


def test_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "a=b")
    assert dict(asked(env=["MINE", "X=", "Y=1=2"]).request.env) == {"MINE": "a=b", "X": "", "Y": "1=2"}


def test_limits_and_level() -> None:
    run = asked(limits={"memory": "64M", "wall": "1.5s"}, level="none")
    assert (run.limits, run.policy and run.policy.level) == (Limits(memory="64M", wall=1.5), Level.NONE)
    assert asked().policy is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"code": None}, "there is no program"),
        ({"code": None, "file": "/nowhere/x.py"}, "cannot be read from '/nowhere/x.py'"),
        ({"code": None, "file": "-", "stdin": "-"}, "stdin is the program already"),
        ({"stdin": "/"}, "stdin cannot be read from '/'"),
        ({"inputs": ["a/x", "b/x"]}, "each name once"),
        ({"inputs": ["../x=y"]}, "files"),
        ({"env": ["NOT_THERE_AT_ALL"]}, "NOT_THERE_AT_ALL"),
        ({"args": ["\udcff"]}, "args"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        asked(**options)


@pytest.mark.parametrize("options", [{"limits": {"memory": "12Q"}}, {"level": "high"}])
def test_mistakes_in_the_policy(options: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        asked(**options)


# How they are read


def read(*words: str) -> dict[str, Any]:
    parser = Parser("do", "Do it.", "", words="[WORD]...")
    parser.add_argument("-c", dest="code")
    parser.add_argument("--size")
    parser.add_argument("--add", action="append", default=[])
    parser.add_argument("--quiet", action="store_true")
    return {name: value for name, value in vars(parser.read(words)).items() if value not in (None, [], False)}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], {}),
        (["a", "--size", "1", "b"], {"size": "1", "words": ["a", "b"]}),
        (["--size=1", "-c1", "-"], {"size": "1", "code": "1", "words": ["-"]}),
        (["-c", "-x", "--size", "-1", "--add", "--quiet"], {"code": "-x", "size": "-1", "add": ["--quiet"]}),
        (["-c", "", "--size", ""], {"code": "", "size": ""}),
        (["a", "--", "--size", "--", "-b"], {"words": ["a", "--size", "--", "-b"]}),
        (["--add", "a", "--quiet", "--add", "b"], {"add": ["a", "b"], "quiet": True}),
        (["a", "a=b c", "--add", "x=-y"], {"words": ["a", "a=b c"], "add": ["x=-y"]}),
    ],
)
def test_words_are_read(words: list[str], found: dict[str, Any]) -> None:
    assert read(*words) == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--siz", "1"], "`belljar do` has no option --siz. Did you mean --size? Words for the program that begin"),
        (["a", "-x"], "`belljar do` has no option -x."),
        (["--size"], "argument --size: expected one argument (see belljar do --help)."),
        (["--quiet=1"], "argument --quiet: ignored explicit argument '1' (see belljar do --help)."),
    ],
)
def test_mistakes_in_the_words(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        read(*words)


def test_a_command_without_words_takes_none() -> None:
    with pytest.raises(UsageError, match=re.escape("`belljar doctor` takes no 'x' (see belljar doctor --help).")):
        command("doctor").parser().read(["x"])


# Help and documentation


def help_of(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "100")
    return parser.format_help()


def test_help(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = help_of(overview(), monkeypatch)
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "\n  belljar run hello.py\n" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = help_of(command(name).parser(), monkeypatch)
    assert shown.startswith(f"Usage: belljar {name} [OPTIONS]")
    assert "Example" in shown
    assert max(len(line) for line in shown.splitlines()) <= 100


def test_help_of_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = help_of(command("run").parser(), monkeypatch)
    assert '\n  belljar run -c "print(6 * 7)"\n' in shown
    assert "no isolation" in shown
    assert "no colours" in shown
    assert all(code in shown for code in EXIT_CODES.values())
    assert "(default 512M)" in shown


def test_the_documented_options_are_those_of_the_command() -> None:
    rows = markdown.table((ROOT / "docs" / "command.md").read_text(), "option")
    names = [" ".join(flags) for flags in command("run").parser().flags() if "--help" not in flags]
    documented = [" ".join(re.findall(r"--?[a-z][\w-]*", row["option"])) for row in rows]
    assert [name for name in documented if name] == names
    usual = Limits().to_dict()
    limits = {
        row["option"].split()[0][2:].replace("-", "_"): row["default"] for row in rows if row["option"][:2] == "--"
    }
    assert Limits.from_dict({name: limits[name] for name in usual if limits[name] != "none"}) == Limits()


# What is imported


def imported(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        check=True,
        timeout=60,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_importing_the_entry_is_cheap() -> None:
    modules = imported("-c", "import belljar.cli.main")
    assert {"argparse", "rich", "belljar.engine", "belljar.limits"} & modules == set()


def test_version_needs_no_engine() -> None:
    modules = imported("-m", "belljar", "version")
    assert {"rich", "belljar.engine", "belljar.sandbox", "belljar.cli.run"} & modules == set()
