"""`belljar run` as a process: output, exit codes, files, signals, and that nothing outlives it."""

import errno
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.result import Result

SECONDS = 60
COMMAND = (sys.executable, "-m", "belljar", "run", "--backend", "local")
DEVNULL = subprocess.DEVNULL
PIPE = subprocess.PIPE


@pytest.fixture(autouse=True)
def _local(need: Callable[..., None]) -> None:
    need("local")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "TERM": "xterm", **more}


def run(*words: str | Path, stdin: bytes | None = None, **more: Any) -> subprocess.CompletedProcess[bytes]:
    given: dict[str, Any] = {"stdin": DEVNULL} if stdin is None else {"input": stdin}
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        **{"env": environment(), **given, **more},
    )


def default_signals() -> None:
    """A test run in the background may have Ctrl+C ignored, and so its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def running(*words: str, stdin: int | IO[bytes] = DEVNULL, stderr: int = PIPE) -> Iterator[subprocess.Popen[bytes]]:
    """The command, still running; it is killed at the end of the block if it still is."""
    with subprocess.Popen(
        [*COMMAND, *words],
        stdin=stdin,
        stdout=PIPE,
        stderr=stderr,
        env=environment(),
        preexec_fn=default_signals,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], bool]) -> None:
    """Wait for it; fail when it takes too long."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def line_of(file: IO[bytes] | None) -> bytes:
    assert file is not None
    return file.readline()


# Prints the processes of its run: a child that ignores signals in a session of its own, itself, its init, the zygote
# and the keeper.
FAMILY = """
import os, signal, time
child = os.fork()
if child == 0:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(1000)
def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
family = [child, os.getpid()]
for _ in range(3):
    family.append(parent(family[-1]))
print(*family, flush=True)
"""
SLEEP = "import time; time.sleep(1000)"


# Ends


@pytest.mark.parametrize(
    ("code", "options", "expected", "note"),
    [
        ("print(1)", [], 0, None),
        ("raise SystemExit(7)", [], 7, None),
        ("1/0", [], 1, None),
        ("x =", [], 1, b"rejected: did not parse or compile: nothing ran"),
        ("import os; os.kill(os.getpid(), 11)", [], 139, b"crashed: ended by a signal that it caused (SIGSEGV)"),
        (SLEEP, ["--wall", "100ms"], 124, b"timed_out: stopped at its wall or CPU limit (wall 100ms)"),
        (
            "while True: pass",
            ["--cpu", "200ms"],
            124,
            b"timed_out: stopped at its wall or CPU limit (cpu 200ms)",
        ),
        (
            f"x = b'x' * (300 << 20); {SLEEP}",
            ["--memory", "100M"],
            137,
            b"out_of_memory: stopped at its memory limit (memory 100M)",
        ),
        (
            f"import subprocess\nfor _ in range(5): subprocess.Popen(['sleep', '1000'])\n{SLEEP}",
            ["--processes", "3"],
            122,
            b"over_limit: stopped at a limit other than time and memory (processes 3)",
        ),
        (
            "import os; os.kill(os.getppid(), 9)",
            [],
            125,
            b"lost: the sandbox failed, not the code: the run can be tried again",
        ),
    ],
)
def test_ends(code: str, options: list[str], expected: int, note: bytes | None) -> None:
    done = run(*options, "-c", code)
    assert done.returncode == expected, done.stderr
    notes = [line for line in done.stderr.splitlines() if line.startswith(b"belljar: ")]
    assert notes == ([b"belljar: " + note] if note else [])


@pytest.mark.parametrize(
    ("words", "expected", "said"),
    [
        (["--memory", "12Q", "-c", "1"], 2, b"belljar: `limits.memory` is '12Q': give a size"),
        (["nowhere.py"], 2, b"belljar: the program cannot be read from 'nowhere.py': No such file"),
        ([], 2, b"belljar: there is no program: give FILE"),
        (["--language", "cobol", "-c", "1"], 2, b"belljar: `language` has no 'cobol'"),
        (["--file", "/dev/null", "-c", "1"], 2, b"belljar: `files['null']` is '/dev/null'"),
        (["--out", "/dev/null/x", "-c", "1"], 2, b"belljar: '/dev/null/x' cannot be made: Not a directory"),
        (["--python", "no-such-python", "-c", "1"], 2, b"belljar: `--python` is 'no-such-python'"),
        (["--backend", "nosuch", "-c", "1"], 2, b"belljar: `backend` has no 'nosuch'"),
        (["--level", "full", "-c", "1"], 125, b"belljar: level: backend 'local' gives level 'none'"),
    ],
)
def test_mistakes_are_one_line(words: list[str], expected: int, said: bytes) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (expected, b"")
    assert done.stderr.startswith(said)
    assert done.stderr.count(b"\n") == 1


def test_a_preload_that_fails() -> None:
    done = run("--preload", "no_such", "-c", "1")
    assert (done.returncode, done.stdout) == (125, b"")
    assert done.stderr.startswith(b"belljar: preload: preload of 'no_such' failed")


def test_an_unknown_option() -> None:
    done = run("--nonsense")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--nonsense" in done.stderr
    assert b"Traceback" not in done.stderr


# Output


def test_both_streams_as_bytes() -> None:
    code = "import os; os.write(1, bytes(range(256))); os.write(2, bytes(range(256)))"
    done = run("-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, bytes(range(256)), bytes(range(256)))


@pytest.mark.parametrize("option", ["--stream", "--no-stream"])
def test_big_output(option: str) -> None:
    done = run(option, "--output", "8M", "-c", "for n in range(500_000): print(n)")
    assert done.returncode == 0
    assert done.stdout == b"".join(b"%d\n" % n for n in range(500_000))
    assert done.stderr == b""


def test_too_much_output_is_cut_and_told() -> None:
    done = run("--output", "1000", "-c", "print('a' * 999, end=''); print('b' * 3000, end='')")
    assert (done.returncode, done.stdout) == (0, b"a" * 999 + b"b")
    assert done.stderr == b"belljar: 2999 bytes of stdout were dropped (limit output 1000B)\n"


def test_at_the_end_too_much_output_keeps_both_ends() -> None:
    done = run("--no-stream", "--output", "10", "-c", "print('a' * 100 + 'bcde')")
    assert done.stdout == b"aaaaa\n[... 95 bytes dropped ...]\nbcde\n"


def test_output_is_live() -> None:
    with running("-c", "print('first', flush=True); print(input())", stdin=PIPE) as process:
        assert process.stdin
        assert line_of(process.stdout) == b"first\n"  # it waits for us now
        process.stdin.write(b"second\n")
        process.stdin.close()
        assert line_of(process.stdout) == b"second\n"
        assert process.wait(SECONDS) == 0


def test_a_note_begins_a_line() -> None:
    done = run("--wall", "100ms", "-c", f"import sys, os; os.write(2, b'partial'); os.kill(os.getpid(), 9); {SLEEP}")
    assert done.stderr == b"partial\nbelljar: crashed: ended by a signal that it caused (SIGKILL)\n"


def test_a_reader_that_leaves_ends_the_run() -> None:
    with running("-c", f"{FAMILY}\nwhile True: print('more')") as process:
        assert process.stdout
        family = [int(pid) for pid in line_of(process.stdout).split()]
        process.stdout.close()
        assert process.wait(SECONDS) == 141
        assert process.stderr
        assert process.stderr.read() == b""
    assert not any(map(exists, family[:3]))


def test_closed_stdout_is_no_place_for_a_socket() -> None:
    done = run("-c", "print('nobody hears it')", preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_full_disk() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "-c", "print(1)"], stdin=DEVNULL, stdout=full, stderr=PIPE, timeout=SECONDS, check=False
        )
    assert done.returncode == 125
    assert done.stderr == b"belljar: stdout: it cannot be written (ENOSPC: No space left on device).\n"


# On a terminal


def on_a_terminal(*words: str | Path, **variables: str) -> tuple[int, bytes]:
    """The exit code, and what both streams have shown."""
    ours, theirs = pty.openpty()
    env = environment(**variables)
    if "NO_COLOR" not in variables:
        env.pop("NO_COLOR", None)
    process = subprocess.Popen([*COMMAND, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65536):
            shown += data
    except OSError as error:
        if error.errno != errno.EIO:  # how a terminal says that the last one has left it
            raise
    finally:
        os.close(ours)
    return process.wait(SECONDS), shown


def test_a_terminal_gets_text_only() -> None:
    code = r"import sys; print('\x1b[31mred\x1b[0m\x1b]0;title\x07'); print('err\x1b[2J', file=sys.stderr)"
    assert on_a_terminal("-c", code) == (0, b"red\r\nerr\r\n")


def test_a_terminal_is_not_the_programs_stdin() -> None:
    assert on_a_terminal("-c", "import sys; print(repr(sys.stdin.read()))") == (0, b"''\r\n")


def test_colour_of_our_own_and_none() -> None:
    code = "import os; print('x', end='', flush=True); os.abort()"
    end = b" crashed: ended by a signal that it caused (SIGABRT)\r\n"
    assert on_a_terminal("-c", code) == (134, b"x\r\n\x1b[31mbelljar:\x1b[0m" + end)
    assert on_a_terminal("-c", code, NO_COLOR="1") == (134, b"x\r\nbelljar:" + end)


def test_a_long_preparation_is_shown_and_erased(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    slow.write_text(f'#!/bin/sh\nsleep 6\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    assert on_a_terminal("--python", slow, "-c", "print(1)") == (0, b"preparing ...\r\x1b[K1\r\n")


# Input


def test_stdin_is_passed_on() -> None:
    assert run("-c", "print(input())", stdin=b"3\nrest").stdout == b"3\n"


def test_big_stdin() -> None:
    done = run("-c", "import sys; print(len(sys.stdin.buffer.read()))", stdin=b"x" * 3_000_000)
    assert done.stdout == b"3000000\n"


def test_the_program_from_stdin_has_none() -> None:
    done = run("-", stdin=b"import sys; print(repr(sys.stdin.read()))")
    assert (done.returncode, done.stdout) == (0, b"''\n")


def test_stdin_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_text("from the file")
    assert run("--stdin", file, "-c", "print(input())", stdin=b"not this").stdout == b"from the file\n"


def test_a_file_as_stdin_is_read_from_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_text("one\ntwo\n")
    with file.open("rb", buffering=0) as opened:
        opened.seek(4)
        done = subprocess.run(
            [*COMMAND, "-c", "print(input())"], stdin=opened, stdout=PIPE, timeout=SECONDS, check=True
        )
    assert done.stdout == b"two\n"


def test_no_stdin_at_all() -> None:
    done = run("-c", "import sys; print(repr(sys.stdin.read()))", preexec_fn=lambda: os.close(0))
    assert (done.returncode, done.stdout) == (0, b"''\n")


def test_an_open_pipe_does_not_hold_up_the_end() -> None:
    with running("-c", "print('done')", stdin=PIPE) as process:
        assert line_of(process.stdout) == b"done\n"
        assert process.wait(SECONDS) == 0
        assert process.stdin
        process.stdin.close()


def test_arguments_and_name(tmp_path: Path) -> None:
    file = tmp_path / "show.py"
    file.write_text("import sys; print(sys.argv)")
    assert run(file, "a", "--", "-b", "--json").stdout == b"['show.py', 'a', '-b', '--json']\n"
    assert run("-c", "import sys; print(sys.argv[1:])", "a", "--", "--wall").stdout == b"['a', '--wall']\n"


def test_words_that_look_like_options_of_ours() -> None:
    done = run("--env", "A=1", "-c", "import sys; print(sys.argv[1:])", "--", "--python", "nowhere")
    assert (done.returncode, done.stdout) == (0, b"['--python', 'nowhere']\n")


def test_variables() -> None:
    code = (
        "import os; print(sorted(set(os.environ) & {'SET', 'MINE', 'SECRET'}), os.environ['SET'], os.environ['MINE'])"
    )
    done = run("--env", "SET=a=b", "--env", "MINE", "-c", code, env=environment(MINE="mine", SECRET="no"))
    assert done.stdout == b"['MINE', 'SET'] a=b mine\n"


def test_files_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("in")
    (tmp_path / "b=c.txt").write_text("other")
    code = (
        "import os; os.mkdir('made')\n"
        "open('made/out.txt', 'w').write(open('in.txt').read() + open('sub/b.txt').read())\n"
    )
    out = tmp_path / "new" / "out"
    done = run("--file", tmp_path / "in.txt", "--file", f"sub/b.txt={tmp_path}/b=c.txt", "--out", out, "-c", code)
    assert (done.returncode, done.stderr) == (0, b"")
    assert [str(path.relative_to(out)) for path in sorted(out.rglob("*"))] == ["made", "made/out.txt"]
    assert (out / "made" / "out.txt").read_text() == "inother"


def test_files_come_out_of_a_failed_run(tmp_path: Path) -> None:
    done = run("--out", tmp_path, "-c", "open('log', 'w').write('so far'); raise SystemExit(3)")
    assert (done.returncode, (tmp_path / "log").read_text()) == (3, "so far")


# JSON


def test_json() -> None:
    done = run("--json", "--wall", "20s", "-c", "print('é'); import sys; print('err', file=sys.stderr); [1, 'é']")
    assert (done.returncode, done.stderr) == (0, b"")
    result = Result.from_dict(json.loads(done.stdout))
    assert (result.outcome, result.stdout, result.stderr) == (Outcome.OK, "é\n", "err\n")
    assert result.value == [1, "é"]
    assert result.limits == Limits(wall=20)


def test_json_of_a_bad_end_says_nothing_beside() -> None:
    done = run("--json", "--wall", "100ms", "-c", SLEEP)
    assert (done.returncode, done.stderr) == (124, b"")
    assert json.loads(done.stdout)["outcome"] == "timed_out"


# Signals


@pytest.mark.parametrize(("signum", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("option", ["--stream", "--grace=1s"])
def test_a_signal_ends_everything(signum: signal.Signals, expected: int, option: str) -> None:
    with running(option, "-c", FAMILY + SLEEP) as process:
        family = [int(pid) for pid in line_of(process.stdout).split()]
        assert all(map(exists, family))
        process.send_signal(signum)
        process.send_signal(signum)  # an impatient user
        assert process.wait(SECONDS) == expected
        assert not any(map(exists, family[:3]))
        until(lambda: not any(map(exists, family)))
        assert process.stdout
        assert process.stderr
        assert process.stdout.read() == b""
        assert process.stderr.read() == b"belljar: cancelled\n"


def test_a_signal_before_the_run_has_begun(tmp_path: Path) -> None:
    slow = tmp_path / "python"
    started, go_on = tmp_path / "started", tmp_path / "go-on"
    wait = f": > {started}; while [ ! -e {go_on} ]; do sleep 0.01; done"
    slow.write_text(f'#!/bin/sh\n{wait}\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    with running("--python", str(slow), "-c", "1") as process:
        until(started.exists)
        process.send_signal(signal.SIGINT)
        go_on.touch()
        assert process.wait(SECONDS) == 130
        assert process.stderr
        assert process.stderr.read() == b"belljar: cancelled\n"


def test_a_signal_that_is_ignored_stays_so() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    code = "import os, signal; os.kill(int(input()), signal.SIGINT); print('goes on')"
    with subprocess.Popen(
        [*COMMAND, "-c", code], stdin=PIPE, stdout=PIPE, preexec_fn=ignore, env=environment()
    ) as process:
        out, _ = process.communicate(b"%d\n" % process.pid, SECONDS)
        assert (process.returncode, out) == (0, b"goes on\n")


def test_nothing_outlives_a_killed_command() -> None:
    with running("-c", FAMILY + SLEEP) as process:
        family = [int(pid) for pid in line_of(process.stdout).split()]
        process.kill()
        until(lambda: not any(map(exists, family)))


def test_nothing_outlives_a_run_that_ends() -> None:
    done = run("-c", FAMILY)
    assert done.returncode == 0
    family = [int(pid) for pid in done.stdout.split()]
    assert not any(map(exists, family[:3]))
    until(lambda: not any(map(exists, family)))
