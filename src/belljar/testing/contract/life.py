"""The life of runs and sandboxes: many at a time, cancelled, in threads and forks; and nothing is left."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from belljar.errors import BelljarError, SetupError
from belljar.events import Output, Sample
from belljar.outcome import Outcome
from belljar.request import RunRequest
from belljar.sandbox import AsyncSandbox
from belljar.testing.contract.base import ContractBase, Face, tagged, unique

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path
    from typing import Any

    from belljar.result import Result
    from belljar.sandbox import Sandbox


def sleeper(tag: str) -> str:
    """A program that starts another one, says so, and waits."""
    return (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {tag!r}])\n"
        "print('started'); time.sleep(300)"
    )


class LifeContract(ContractBase):
    """Who starts, waits, leaves and cleans up."""

    def test_usage_is_measured(self, run: Callable[..., Result]) -> None:
        source = (
            "import time\nx = b'x' * (20 << 20)\nsum(range(3_000_000))\ntime.sleep(0.1)\n"
            "open('x', 'wb').write(b'x' * 10_000)\nprint('12')"
        )
        result = run(source)
        usage = result.usage
        assert 0.1 <= usage.wall < 20
        assert 0 < usage.setup < 20
        assert usage.cpu_user > 0.005
        assert usage.output_bytes == 3
        assert usage.memory_peak is None or usage.memory_peak > 16 << 20
        assert usage.disk_bytes is None or usage.disk_bytes >= 10_000

    def test_usage_can_be_watched(self, run: Callable[..., Result]) -> None:
        seen: list[Sample] = []
        run("import time\nx = b'x' * (20 << 20)\ntime.sleep(1.3)", on_usage=seen.append)
        assert len(seen) == 2
        assert seen[0].memory > 16 << 20
        assert seen[0].processes == 1
        assert 0.4 < seen[0].wall < seen[1].wall

    def test_a_daemon_does_not_outlive_the_run(self, run: Callable[..., Result]) -> None:
        tag = unique()
        source = (
            "import os, sys\n"
            "if os.fork() == 0:\n"
            "  os.setsid()\n"
            "  if os.fork() == 0:\n"
            f"    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(300)', {tag!r}])\n"
            "  os._exit(0)\n"
            "os.wait(); print('gone')"
        )
        assert run(source).stdout == "gone\n"
        assert tagged(tag) == []

    def test_a_child_that_holds_the_pipe_does_not_hold_the_result(self, run: Callable[..., Result]) -> None:
        began = time.monotonic()
        assert run("import subprocess; subprocess.Popen(['sleep', '60']); print('x')").stdout == "x\n"
        assert time.monotonic() - began < 20

    def test_a_fork_of_the_program_says_nothing_for_it(self, run: Callable[..., Result]) -> None:
        result = run("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'parent' if pid else 'child'")
        assert result.value == "parent"

    def test_a_fork_chain_is_caught_up_with(self, run: Callable[..., Result]) -> None:
        source = (
            "import os, time\nprint('go', flush=True)\n"
            "for _ in range(2000):\n"
            "  if os.fork(): os._exit(0)\n"
            "  time.sleep(0.005)\n"
            "print('escaped')"
        )
        assert run(source).stdout == "go\n"

    def test_many_at_once(self, sandbox: Sandbox, face: Face) -> None:
        wanted = [f"v{i}" for i in range(100)]
        if face == "sync":
            found: dict[int, str] = {}

            def one(index: int) -> None:
                found[index] = sandbox.run(f"print('v{index}')").stdout.strip()

            threads = [threading.Thread(target=one, args=(index,)) for index in range(100)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            values = [found[index] for index in range(100)]
        else:

            async def all_of_them() -> list[Result]:
                box = AsyncSandbox.sharing(sandbox)
                return await asyncio.gather(*(box.run(f"print('v{index}')") for index in range(100)))

            values = [result.stdout.strip() for result in asyncio.run(all_of_them())]
        assert values == wanted

    def test_sync_inside_a_running_loop(self, sandbox: Sandbox) -> None:
        async def inside() -> object:
            return sandbox.run("6 * 7").value

        assert asyncio.run(inside()) == 42

    def test_cancelling_the_task_ends_the_run(self, sandbox: Sandbox) -> None:
        tag = unique()

        async def cancelled() -> None:
            started = asyncio.Event()
            box = AsyncSandbox.sharing(sandbox)
            task = asyncio.create_task(box.run(sleeper(tag), on_stdout=lambda _: started.set()))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert tagged(tag) == []

        asyncio.run(cancelled())

    def test_leaving_a_stream_ends_the_run(self, sandbox: Sandbox, face: Face) -> None:
        tag = unique()
        if face == "sync":
            events = sandbox.stream(sleeper(tag))
            assert isinstance(next(events), Output)
            events.close()
        else:

            async def leave() -> None:
                stream = AsyncSandbox.sharing(sandbox).stream(sleeper(tag))
                assert isinstance(await anext(stream), Output)
                await stream.aclose()

            asyncio.run(leave())
        assert tagged(tag) == []

    def test_closing_cancels_what_runs(self) -> None:
        tag, results = unique(), []
        box = self.make_sandbox()
        started = threading.Event()
        thread = threading.Thread(
            target=lambda: results.append(box.run(sleeper(tag), on_stdout=lambda _: started.set()))
        )
        thread.start()
        assert started.wait(20)
        box.close()
        thread.join(20)
        assert [result.outcome for result in results] == [Outcome.CANCELLED]
        assert results[0].stdout == "started\n"
        assert tagged(tag) == []
        box.close()

    def test_after_a_fork_of_the_caller(self, sandbox: Sandbox) -> None:
        assert sandbox.run("1").value == 1
        outlet, inlet = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.write(inlet, sandbox.run("print('child')").stdout_bytes)
                sandbox.close()
                code = 0
            finally:
                os._exit(code)
        os.close(inlet)
        with os.fdopen(outlet, "rb") as said:
            assert said.read() == b"child\n"
        assert os.waitpid(pid, 0)[1] == 0
        assert sandbox.run("print('parent')").stdout == "parent\n"

    def test_without_parked_cells(self) -> None:
        with self.make_sandbox(parked=0) as box:
            assert [box.run(f"{i}").value for i in range(3)] == [0, 1, 2]

    def test_a_preload_is_there_and_a_missing_one_is_named(self) -> None:
        with self.make_sandbox(preload=["decimal"]) as box:
            assert box.run("import sys; 'decimal' in sys.modules").value is True
        with self.make_sandbox(preload=["nopkg_xyz"]) as box:
            for _ in range(2):
                with pytest.raises(SetupError, match="nopkg_xyz"):
                    box.run("1")

    def test_map_yields_all_results(self, sandbox: Sandbox) -> None:
        results = list(sandbox.map((f"{i} * 2" for i in range(30)), workers=4))
        assert sorted(result.index or 0 for result in results) == list(range(30))
        assert all(result.value == 2 * (result.index or 0) for result in results)

    def test_map_in_order(self, sandbox: Sandbox) -> None:
        sources = ["import time; time.sleep(1.5); 0", "1", "2", "3"]
        assert [result.value for result in sandbox.map(sources, workers=4, ordered=True)] == [0, 1, 2, 3]
        assert [result.value for result in sandbox.map(sources, workers=4)][-1] == 0

    def test_map_survives_broken_items(self, sandbox: Sandbox, tmp_path: Path) -> None:
        items: list[Any] = ["1", 5, "1/0", RunRequest(source="3", files={"a": tmp_path / "missing"}), "4"]
        results = list(sandbox.map(items, ordered=True))
        outcomes = [result.outcome for result in results]
        assert outcomes == [Outcome.OK, Outcome.REJECTED, Outcome.FAILED, Outcome.REJECTED, Outcome.OK]
        assert results[1].error is not None
        assert "source" in results[1].error.message

    def test_map_does_not_run_ahead(self, sandbox: Sandbox) -> None:
        pulled = 0

        def sources() -> Iterator[str]:
            nonlocal pulled
            for i in range(1000):
                pulled += 1
                yield f"{i}"

        results = sandbox.map(sources(), workers=2, ordered=True)
        assert next(results).value == 0
        results.close()
        assert pulled < 100

    def test_map_raises_what_its_requests_raise(self, sandbox: Sandbox) -> None:
        def sources() -> Iterator[str]:
            yield "1"
            raise LookupError("mine")

        results = sandbox.map(sources())
        assert next(results).value == 1
        with pytest.raises(LookupError, match="mine"):
            next(results)

    def test_async_map(self, sandbox: Sandbox) -> None:
        async def collect() -> list[object]:
            async def sources() -> AsyncIterator[str]:
                for i in range(10):
                    yield f"{i}"

            box = AsyncSandbox.sharing(sandbox)
            return [result.value async for result in box.map(sources(), ordered=True)]

        assert asyncio.run(collect()) == list(range(10))

    def test_the_report_says_the_level(self, run: Callable[..., Result]) -> None:
        report = run("1").report
        assert report.level is self.level
        assert report.layers

    def test_a_floor_above_the_level_is_refused(self) -> None:
        if self.level.value == "full":
            pytest.skip("nothing is above full")
        box = self.make_sandbox()
        box._engine.policy = box._engine.policy.replace(level="full")
        with pytest.raises(BelljarError, match="floor"):
            box.run("1")
        box.close()
