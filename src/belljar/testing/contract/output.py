"""Output: all of it, in order, live, and in bounded memory."""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING, Any

import pytest

from belljar.events import Finished, Output
from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.policy import Policy
from belljar.testing.contract.base import ContractBase, Face

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from belljar.events import Event
    from belljar.result import Result
    from belljar.sandbox import Sandbox

FLOOD = "import os\nfor i in range({count}): os.write({fd}, b'%015d\\n' % i * 4096)"


class OutputContract(ContractBase):
    """What the code prints, by whichever way."""

    def test_streams_are_told_apart_and_ordered(self, run: Callable[..., Result]) -> None:
        result = run("import sys\nsys.stderr.write('E')\nprint('O')\nprint('F', file=sys.stderr)\nprint('P')")
        assert (result.stdout, result.stderr) == ("O\nP\n", "EF\n")
        assert "".join(chunk.text for chunk in result.transcript) == "EO\nF\nP\n"

    def test_order_survives_many_changes(self, run: Callable[..., Result]) -> None:
        source = "import sys\nfor i in range(40): print(i, file=(sys.stdout, sys.stderr)[i % 2])"
        result = run(source)
        assert "".join(chunk.text for chunk in result.transcript) == "".join(f"{i}\n" for i in range(40))

    def test_every_way_to_write_is_captured(self, run: Callable[..., Result]) -> None:
        source = (
            "import logging, os, subprocess, sys\n"
            "print('print')\n"
            "sys.stdout.buffer.write(b'buffer\\n'); sys.stdout.flush()\n"
            "os.write(1, b'raw\\n')\n"
            "subprocess.run(['echo', 'child'])\n"
            "logging.warning('logged')\n"
            "print('<|EOF|>')\n"
            "print('after')"
        )
        result = run(source)
        assert result.stdout == "print\nbuffer\nraw\nchild\n<|EOF|>\nafter\n"
        assert result.stderr == "WARNING:root:logged\n"

    def test_the_streams_are_real(self, run: Callable[..., Result]) -> None:
        result = run(
            "import sys; print(sys.stdout.isatty(), sys.stdout.fileno(), sys.stdout.encoding, sys.stdin.isatty())"
        )
        assert result.stdout == "False 1 utf-8 False\n"
        assert run("import sys; sys.stdout.write(123)").error is not None

    def test_bytes_that_are_not_text_are_kept(self, run: Callable[..., Result]) -> None:
        result = run("import os; os.write(1, b'a\\xff\\x00b')")
        assert (result.stdout, result.stdout_bytes) == ("a\ufffd\x00b", b"a\xff\x00b")

    def test_many_small_writes_arrive_whole(self, run: Callable[..., Result]) -> None:
        result = run("for i in range(20000): print(i)")
        assert result.stdout == "".join(f"{i}\n" for i in range(20000))

    def test_a_long_output_keeps_its_ends_and_counts_the_rest(self, run: Callable[..., Result]) -> None:
        result = run(FLOOD.format(count=32, fd=1), limits=Limits(output="64K"))
        assert (result.outcome, result.limits_hit) == (Outcome.OK, ("output",))
        assert len(result.stdout_bytes) == 64 << 10
        assert result.stdout_dropped == 32 * 65536 - (64 << 10)
        assert result.usage.output_bytes == 32 * 65536
        assert result.stdout_bytes.startswith(b"000000000000000\n")
        assert result.stdout_bytes.endswith(b"000000000000031\n")
        assert f"{result.stdout_dropped} bytes dropped" in result.stdout

    def test_100_megabytes_cost_no_memory(self, run: Callable[..., Result]) -> None:
        run("print(1)")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = run(FLOOD.format(count=1600, fd=2))
        assert result.stderr_dropped == 1600 * 65536 - (1 << 20)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 10 << 10

    def test_the_whole_can_be_spilled(self, run: Callable[..., Result], tmp_path: Path) -> None:
        result = run(FLOOD.format(count=3, fd=1), limits=Limits(output="1K"), spill=tmp_path / "new")
        assert result.stdout_file is not None
        assert result.stderr_file is not None
        with open(result.stdout_file, "rb") as whole:
            assert whole.read() == b"".join(b"%015d\n" % i * 4096 for i in range(3))
        with open(result.stderr_file, "rb") as empty:
            assert empty.read() == b""

    def test_a_policy_can_stop_a_flood(self, face: Face) -> None:
        source = FLOOD.format(count=10**9, fd=1)
        policy = Policy(overflow="stop", limits=Limits(output="1M", wall="30s"))
        if face == "sync":
            with self.make_sandbox(policy=policy) as box:
                result = box.run(source)
        else:

            async def run() -> Result:
                async with self.make_async_sandbox(policy=policy) as box:
                    return await box.run(source)

            result = asyncio.run(run())
        assert (result.outcome, result.limits_hit) == (Outcome.OVER_LIMIT, ("output",))
        assert len(result.stdout_bytes) == 1 << 20

    def test_callbacks_get_text_as_it_comes(self, run: Callable[..., Result]) -> None:
        seen: dict[str, list[str]] = {"out": [], "err": []}
        source = "import os\nfor part in 'aü€z'.encode(): os.write(1, bytes([part]))\nos.write(2, b'e')"
        run(source, on_stdout=seen["out"].append, on_stderr=seen["err"].append)
        assert "".join(seen["out"]) == "aü€z"
        assert "".join(seen["err"]) == "e"

    def test_a_callback_that_raises_ends_the_run(self, run: Callable[..., Result]) -> None:
        def refuse(text: str) -> None:
            raise LookupError(text)

        source = "import time\nprint('x')\ntime.sleep(60)"
        with pytest.raises(LookupError, match="x"):
            run(source, on_stdout=refuse)

    def test_a_stream_is_live(self, sandbox: Sandbox, face: Face) -> None:
        """The program goes on only when its first line has been seen."""
        source = "print('first')\nassert input() == 'seen'\nprint('second')"
        events = self._stream_with_answer(sandbox, face, source)
        assert [event.text for event in events if isinstance(event, Output)] == ["first\n", "second\n"]
        assert isinstance(events[-1], Finished)
        assert events[-1].result.ok

    def _stream_with_answer(self, sandbox: Sandbox, face: Face, source: str) -> list[Event]:
        events: list[Event] = []
        if face == "sync":
            import queue

            answers: queue.Queue[str] = queue.Queue()
            for event in sandbox.stream(source, stdin=iter(answers.get, "")):
                if not events:
                    answers.put("seen\n")
                    answers.put("")
                events.append(event)
            return events

        async def follow() -> None:
            first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            async def answer() -> Any:
                await first
                yield "seen\n"

            from belljar.sandbox import AsyncSandbox

            async for event in AsyncSandbox.sharing(sandbox).stream(source, stdin=answer()):
                if not first.done():
                    first.set_result(None)
                events.append(event)

        asyncio.run(follow())
        return events
