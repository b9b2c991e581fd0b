"""Languages that are run by programs of the host."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from belljar.errors import Unsupported
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.testing.contract.base import ContractBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.result import Result

TOOLS = {"bash": "bash", "sh": "sh", "javascript": "node", "c": "cc"}
HELLO = {
    "bash": 'read x; echo "hello $x $1"; exit 3',
    "sh": 'read x; echo "hello $x $1"; exit 3',
    "javascript": (
        "const x = require('fs').readFileSync(0, 'utf8').trim();"
        "console.log(`hello ${x} ${process.argv[2]}`); process.exitCode = 3"
    ),
    "c": (
        '#include <stdio.h>\nint main(int n, char **a) { char x[9]; scanf("%8s", x);'
        ' printf("hello %s %s\\n", x, a[1]); return 3; }'
    ),
}


def tool(language: str) -> None:
    """Skip the test where the language is not installed."""
    if shutil.which(TOOLS[language]) is None:
        pytest.skip(f"{TOOLS[language]} is not installed")


class LanguageContract(ContractBase):
    """Input, arguments, exit codes, compile errors, limits."""

    @pytest.mark.parametrize("language", sorted(HELLO))
    def test_a_program_of_another_language(self, run: Callable[..., Result], language: str) -> None:
        tool(language)
        result = run(HELLO[language], language=language, stdin="you", args=["arg"], limits=Limits(memory="1G"))
        assert (result.outcome, result.exit_code) == (Outcome.FAILED, 3), result.stderr
        assert result.stdout == "hello you arg\n"

    def test_what_does_not_compile_is_rejected(self, run: Callable[..., Result]) -> None:
        tool("c")
        result = run("int main( {", language="c")
        assert result.outcome is Outcome.REJECTED
        assert "error" in result.stderr
        assert result.error is not None
        assert result.error.type == "CompileError"

    @pytest.mark.parametrize(
        ("language", "source"), [("bash", "while :; do :; done"), ("c", "int main() { for (;;); }")]
    )
    def test_a_loop_ends_at_its_limit(self, run: Callable[..., Result], language: str, source: str) -> None:
        tool(language)
        result = run(source, language=language, limits=Limits(wall=1, grace=0.2))
        assert result.outcome is Outcome.TIMED_OUT

    def test_calls_are_for_languages_that_have_them(self, call: Callable[..., Result]) -> None:
        tool("bash")
        with pytest.raises(Unsupported, match="calls"):
            call("echo 1", language="bash")
