"""How runs end, each told apart from every other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from belljar.outcome import Outcome
from belljar.testing.contract.base import ContractBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.result import Result


class EndingContract(ContractBase):
    """Exit codes, signals, exceptions and source that does not parse."""

    def test_a_program_that_runs_through_is_ok(self, run: Callable[..., Result]) -> None:
        result = run("x = 1")
        assert (result.outcome, result.exit_code, result.signal) == (Outcome.OK, 0, None)
        assert result.ok
        assert result.error is None
        assert (result.stdout, result.stderr, result.has_value) == ("", "", False)

    @pytest.mark.parametrize(
        ("source", "code"),
        [
            ("import sys; sys.exit(3)", 3),
            ("raise SystemExit(300)", 300 & 0xFF),
            ("import sys; sys.exit('a word')", 1),
            ("import os; os._exit(5)", 5),
            ("1/0", 1),
            ("raise KeyboardInterrupt", 130),
            ("import os; os._exit(137)", 137),
        ],
    )
    def test_an_exit_code_other_than_0_is_failed(self, run: Callable[..., Result], source: str, code: int) -> None:
        result = run(source)
        assert (result.outcome, result.exit_code, result.signal) == (Outcome.FAILED, code, None)
        assert result.limits_hit == ()

    @pytest.mark.parametrize("source", ["import sys; sys.exit(0)", "import sys; sys.exit()", "import os; os._exit(0)"])
    def test_exit_code_0_is_ok_however_it_came(self, run: Callable[..., Result], source: str) -> None:
        assert run(source).outcome is Outcome.OK

    @pytest.mark.parametrize(
        ("source", "signum"),
        [
            ("import ctypes; print('before'); ctypes.string_at(0)", 11),
            ("import os; print('before'); os.abort()", 6),
            ("import os; print('before'); os.kill(os.getpid(), 9)", 9),
        ],
    )
    def test_a_signal_is_crashed_and_keeps_the_output(
        self, run: Callable[..., Result], source: str, signum: int
    ) -> None:
        result = run(source)
        assert (result.outcome, result.exit_code, result.signal) == (Outcome.CRASHED, None, signum)
        assert result.stdout == "before\n"

    @pytest.mark.parametrize(
        "source", ["print('no')\ndef f(:\n  pass", "print('no')\nx = (", "print('no')\n  indent", "a\0b"]
    )
    def test_what_does_not_parse_is_rejected_and_nothing_runs(self, run: Callable[..., Result], source: str) -> None:
        result = run(source)
        assert result.outcome is Outcome.REJECTED
        assert result.stdout == ""
        assert result.error is not None
        assert result.error.type in ("SyntaxError", "IndentationError", "ValueError")
        assert "belljar" not in result.stderr

    @pytest.mark.parametrize("source", ["eval('1+')", "raise SyntaxError('mine')", "import broken"])
    def test_a_syntax_error_while_running_is_failed(self, run: Callable[..., Result], source: str) -> None:
        result = run(source, files={"broken.py": "def f(:"})
        assert result.outcome is Outcome.FAILED
        assert result.error is not None
        assert result.error.type == "SyntaxError"

    @pytest.mark.parametrize("name", ["TimeoutError", "KeyboardInterrupt", "MemoryError"])
    def test_an_exception_is_not_taken_for_a_limit(self, run: Callable[..., Result], name: str) -> None:
        result = run(f"raise {name}('mine')")
        assert result.outcome is Outcome.FAILED
        assert result.error is not None
        assert (result.error.type, result.error.message) == (name, "mine")
        assert result.limits_hit == ()

    def test_the_error_has_the_frames_of_the_code_only(self, run: Callable[..., Result]) -> None:
        result = run("def f():\n  return 1/0\nf()")
        assert result.error is not None
        assert (result.error.type, result.error.args) == ("ZeroDivisionError", ("division by zero",))
        assert [(frame.file, frame.line, frame.function) for frame in result.error.frames] == [
            ("main.py", 3, "<module>"),
            ("main.py", 2, "f"),
        ]
        assert result.error.frames[1].text == "return 1/0"
        assert result.stderr == result.error.traceback
        assert 'File "main.py", line 2, in f' in result.stderr
        assert "return 1/0" in result.stderr

    @pytest.mark.parametrize(
        ("source", "name"), [("undefined_var", "undefined_var"), ("import nopkg_xyz", "nopkg_xyz"), ("(1).foo", "foo")]
    )
    def test_the_error_names_what_is_missing(self, run: Callable[..., Result], source: str, name: str) -> None:
        error = run(source).error
        assert error is not None
        assert error.name == name

    @pytest.mark.parametrize(("source", "args"), [("raise SystemExit(3)", ("3",)), ("import sys; sys.exit(0)", ("0",))])
    def test_an_exit_by_exception_says_so(self, run: Callable[..., Result], source: str, args: tuple[str, ...]) -> None:
        error = run(source).error
        assert error is not None
        assert (error.type, error.args) == ("SystemExit", args)

    def test_causes_and_groups_are_shown(self, run: Callable[..., Result]) -> None:
        chained = run("try:\n  1/0\nexcept ZeroDivisionError as e:\n  raise ValueError('outer') from e")
        assert "ZeroDivisionError: division by zero" in chained.stderr
        assert "direct cause" in chained.stderr
        assert "ValueError: outer" in chained.stderr
        group = run("raise ExceptionGroup('both', [ValueError('a'), TypeError('b')])")
        assert "ValueError: a" in group.stderr
        assert "TypeError: b" in group.stderr

    def test_an_excepthook_of_the_code_is_used(self, run: Callable[..., Result]) -> None:
        result = run("import sys\nsys.excepthook = lambda kind, error, trace: print('mine', kind.__name__)\n1/0")
        assert (result.stdout, result.stderr, result.exit_code) == ("mine ZeroDivisionError\n", "", 1)

    @pytest.mark.parametrize(
        "source",
        [
            "import sys\ndef hook(*_): raise LookupError('hook')\nsys.excepthook = hook\n1/0",
            "import sys\nclass Odd:\n  def __str__(self): raise LookupError('odd')\nsys.exit(Odd())",
        ],
    )
    def test_what_fails_while_failing_is_failed(self, run: Callable[..., Result], source: str) -> None:
        result = run(source)
        assert (result.outcome, result.exit_code) == (Outcome.FAILED, 1)
        assert "LookupError" in result.stderr

    def test_an_error_that_cannot_be_shown_is_still_told(self, run: Callable[..., Result]) -> None:
        result = run("class E(Exception):\n  def __str__(self): raise RuntimeError\nraise E")
        assert (result.outcome, result.exit_code) == (Outcome.FAILED, 1)
        assert result.error is not None
        assert result.error.type == "E"

    def test_atexit_and_threads_run_to_their_end(self, run: Callable[..., Result]) -> None:
        source = (
            "import atexit, threading, time\n"
            "atexit.register(print, 'exit')\n"
            "said = threading.Event()\n"
            "threading.Thread(target=lambda: (said.wait(), time.sleep(0.05), print('thread'))).start()\n"
            "print('main')\n"
            "said.set()"
        )
        assert run(source).stdout == "main\nthread\nexit\n"
