"""Standard input, from whatever it is given as."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from belljar.errors import UsageError
from belljar.testing.contract.base import ContractBase

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from belljar.result import Result
    from belljar.sandbox import Sandbox

COUNT = "import sys; print(len(sys.stdin.buffer.read()))"


class StdinContract(ContractBase):
    """Bytes, text, files, iterators, or nothing."""

    def test_without_stdin_input_is_at_its_end_at_once(self, run: Callable[..., Result]) -> None:
        result = run("input()")
        assert result.error is not None
        assert result.error.type == "EOFError"

    @pytest.mark.parametrize("stdin", ["1\nü\n", "1\nü\n".encode()])
    def test_text_and_bytes(self, run: Callable[..., Result], stdin: Any) -> None:
        assert run("print(input() + input())", stdin=stdin).stdout == "1ü\n"

    def test_more_than_a_pipe_holds(self, run: Callable[..., Result]) -> None:
        assert run(COUNT, stdin=b"x" * 3_000_000).stdout == "3000000\n"

    def test_what_is_not_read_does_not_matter(self, run: Callable[..., Result]) -> None:
        assert run("print(1)", stdin=b"x" * 3_000_000).stdout == "1\n"

    def test_files(self, run: Callable[..., Result], tmp_path: Path) -> None:
        path = tmp_path / "input"
        path.write_bytes(b"y" * 100_000)
        with path.open("rb") as file:
            assert run(COUNT, stdin=file).stdout == "100000\n"
        assert run(COUNT, stdin=io.BytesIO(b"z" * 70_000)).stdout == "70000\n"
        assert run(COUNT, stdin=io.StringIO("ü" * 10)).stdout == "20\n"

    def test_a_pipe_that_stays_open_does_not_hold_the_result(self, run: Callable[..., Result]) -> None:
        outlet, inlet = os.pipe()
        os.write(inlet, b"line\n")
        try:
            with os.fdopen(outlet, "rb") as file:
                assert run("print(input())", stdin=file).stdout == "line\n"
        finally:
            os.close(inlet)

    def test_an_iterator(self, run: Callable[..., Result]) -> None:
        assert run("import sys; print(sys.stdin.read())", stdin=(f"{i};" for i in range(5))).stdout == "0;1;2;3;4;\n"

    def test_an_iterator_that_blocks_does_not_hold_the_result(self, run: Callable[..., Result]) -> None:
        over = threading.Event()

        def lines() -> Iterator[str]:
            yield "first\n"
            over.wait(30)

        assert run("print(input())", stdin=lines()).stdout == "first\n"
        over.set()

    def test_an_async_iterator_is_for_the_async_face(self, sandbox: Sandbox) -> None:
        from belljar.sandbox import AsyncSandbox

        async def lines() -> AsyncIterator[str]:
            for i in range(3):
                yield f"{i}\n"

        result = asyncio.run(AsyncSandbox.sharing(sandbox).run("import sys; print(sys.stdin.read())", stdin=lines()))
        assert result.stdout == "0\n1\n2\n\n"
        with pytest.raises(UsageError, match="AsyncSandbox"):
            sandbox.run("1", stdin=lines())
