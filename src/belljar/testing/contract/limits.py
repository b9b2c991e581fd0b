"""Limits: each ends what goes beyond it, is told apart from the others, and keeps what was printed before."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from belljar.limits import Limits
from belljar.outcome import Outcome
from belljar.testing.contract.base import ContractBase, tagged, unique, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.result import Result

SOON = 4.0  # seconds in which a loaded machine has surely ended a run after its last deadline


class LimitContract(ContractBase):
    """Wall, CPU, memory, processes, open files."""

    def test_the_wall_limit_interrupts(self, run: Callable[..., Result]) -> None:
        began = time.monotonic()
        result = run("import time\nprint('start')\ntime.sleep(60)", limits=Limits(wall=0.3))
        assert time.monotonic() - began < 0.3 + SOON
        assert (result.outcome, result.limits_hit) == (Outcome.TIMED_OUT, ("wall",))
        assert result.stdout == "start\n"
        assert result.error is not None
        assert result.error.type == "KeyboardInterrupt"
        assert result.limits.wall == 0.3

    def test_the_interrupt_can_be_used_to_finish(self, run: Callable[..., Result]) -> None:
        source = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('cleanup')\nprint('done')\n'saved'"
        result = run(source, limits=Limits(wall=0.3))
        assert (result.outcome, result.exit_code, result.error) == (Outcome.TIMED_OUT, 0, None)
        assert (result.stdout, result.value) == ("cleanup\ndone\n", "saved")

    def test_who_swallows_the_interrupt_is_killed(self, run: Callable[..., Result]) -> None:
        source = (
            "import time\nwhile True:\n"
            "  try:\n"
            "    while True: print('on', flush=True); time.sleep(0.05)\n"
            "  except KeyboardInterrupt: print('never', flush=True)"
        )
        began = time.monotonic()
        result = run(source, limits=Limits(wall=0.3, grace=1.2))
        assert 1.5 <= time.monotonic() - began < 1.5 + SOON
        assert (result.outcome, result.signal) == (Outcome.TIMED_OUT, 9)
        assert result.stdout.startswith("on\n")
        assert "never\non\n" in result.stdout

    def test_who_ignores_every_signal_is_killed(self, run: Callable[..., Result]) -> None:
        source = "import signal, time\nfor s in (1, 2, 3, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(60)"
        assert run(source, limits=Limits(wall=0.2, grace=0.2)).outcome is Outcome.TIMED_OUT
        assert run("print('next')").stdout == "next\n"

    def test_source_that_takes_forever_to_compile(self, run: Callable[..., Result]) -> None:
        source = (
            f"x = {'-' * 90}1\n"
            + "(" * 90
            + "0"
            + ")" * 90
            + "\n"
            + "y = "
            + "+".join(["1"] * 3000)
            + "\nwhile True: pass"
        )
        result = run(source, limits=Limits(wall=1, grace=0.2))
        assert result.outcome in (Outcome.TIMED_OUT, Outcome.REJECTED)

    def test_the_cpu_limit_counts_time_on_the_processor(self, run: Callable[..., Result]) -> None:
        result = run("while True: pass", limits=Limits(cpu=0.3, wall=20))
        assert (result.outcome, result.limits_hit) == (Outcome.TIMED_OUT, ("cpu",))
        assert result.usage.cpu_user + result.usage.cpu_system >= 0.3
        assert run("import time; time.sleep(0.5)", limits=Limits(cpu=0.3)).ok

    def test_the_cpu_limit_counts_children(self, run: Callable[..., Result]) -> None:
        source = "import os\nfor _ in range(2): os.fork()\nwhile True: pass"
        assert run(source, limits=Limits(cpu=0.5, wall=20)).limits_hit == ("cpu",)

    def test_the_processors_that_it_sees(self, run: Callable[..., Result]) -> None:
        source = "import os; print(len(os.sched_getaffinity(0)), os.cpu_count())"
        assert run(source, limits=Limits(cpus=1)).stdout.split()[0] == "1"
        assert run(source, limits=Limits(cpus=0.5)).stdout.split()[0] == "1"
        assert int(run(source).stdout.split()[0]) == len(os.sched_getaffinity(0))

    def test_the_memory_limit(self, run: Callable[..., Result]) -> None:
        result = run("print('before')\nx = b'x' * (1 << 30)\nprint('after')", limits=Limits(memory="256M"))
        assert (result.outcome, result.limits_hit) == (Outcome.OUT_OF_MEMORY, ("memory",))
        assert result.stdout == "before\n"
        assert result.usage.memory_peak is not None
        assert result.usage.memory_peak > 128 << 20

    def test_the_memory_limit_is_for_all_processes_together(self, run: Callable[..., Result]) -> None:
        source = "import os, time\nfor _ in range(3): os.fork()\nx = b'x' * (60 << 20)\ntime.sleep(30)"
        assert run(source, limits=Limits(memory="256M")).outcome is Outcome.OUT_OF_MEMORY

    def test_memory_that_is_shared_counts_once(self, run: Callable[..., Result]) -> None:
        source = (
            "import os, time\nx = b'x' * (100 << 20)\nkids = []\n"
            "for _ in range(6):\n"
            "  pid = os.fork()\n"
            "  if pid == 0: time.sleep(0.3); os._exit(0)\n"
            "  kids.append(pid)\n"
            "for pid in kids: os.waitpid(pid, 0)\nprint('fine')"
        )
        assert run(source, limits=Limits(memory="256M")).stdout == "fine\n"

    def test_the_process_limit(self, run: Callable[..., Result]) -> None:
        source = (
            "import os, time\nfor _ in range(50):\n  if os.fork() == 0: time.sleep(30); os._exit(0)\ntime.sleep(30)"
        )
        result = run(source, limits=Limits(processes=20))
        assert "processes" in result.limits_hit
        assert result.outcome in (Outcome.OVER_LIMIT, Outcome.FAILED)

    def test_the_limit_of_open_files(self, run: Callable[..., Result]) -> None:
        result = run("files = [open('/dev/null') for _ in range(100)]", limits=Limits(open_files=50))
        assert result.error is not None
        assert "Too many open files" in result.error.message

    def test_a_file_cannot_grow_beyond_the_disk(self, run: Callable[..., Result]) -> None:
        source = "try: open('x', 'wb').write(b'x' * 2_000_000)\nexcept OSError: print('refused')"
        assert run(source, limits=Limits(disk=1_000_000)).stdout == "refused\n"

    def test_no_core_is_left(self, run: Callable[..., Result]) -> None:
        result = run("import os, resource; print(resource.getrlimit(resource.RLIMIT_CORE)); os.abort()")
        assert result.stdout == "(0, 0)\n"
        assert result.files == {}

    def test_nothing_of_a_tree_survives_a_limit(self, run: Callable[..., Result]) -> None:
        tag = unique()
        source = (
            "import os, subprocess, sys, time\n"
            f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {tag!r}])\n"
            "if os.fork() == 0:\n"
            "  os.setsid()\n"
            "  if os.fork() == 0:\n"
            f"    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(300)', {tag!r}])\n"
            "  os._exit(0)\n"
            "time.sleep(300)"
        )
        result = run(source, limits=Limits(wall=1, grace=0.5))
        assert result.outcome is Outcome.TIMED_OUT
        wait_until(lambda: not tagged(tag), "the tree is dead", within=0.5)
