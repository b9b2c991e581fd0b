"""A backend that runs nothing and answers by a script, through the same engine as the real ones.

box = belljar.Sandbox(backend=FakeBackend({"print(1)": Scripted(stdout="1\\n")}))
box.run("print(1)").stdout
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from belljar.backends.base import CellEvent, Claimed, Ended, Printed
from belljar.errors import SetupError, UsageError
from belljar.files import Collection
from belljar.output import OutputFile
from belljar.plan import Plan, check_floor
from belljar.report import Layer, LayerState, Level, Report

if TYPE_CHECKING:
    from belljar.backends.base import Program
    from belljar.files import Input
    from belljar.limits import Limits
    from belljar.output import ErrorInfo
    from belljar.policy import Policy
    from belljar.stdin import Source
    from belljar.waits import Waits

_NO_VALUE = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """How one run goes: what it prints and leaves, how long it takes, how it ends.

    `stopped` names a limit that the backend ended it for; `lost` is a sandbox that broke; `refused` is the sentence of
    a SetupError instead of any run.
    """

    stdout: str | bytes = ""
    stderr: str | bytes = ""
    exit_code: int | None = 0
    signal: int | None = None
    value: Any = _NO_VALUE
    error: ErrorInfo | None = None
    rejected: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    takes: float = 0.0
    stopped: str | None = None
    lost: bool = False
    refused: str | None = None


Script: TypeAlias = Scripted | Mapping[str, Scripted] | Callable[["Program"], Scripted]


class FakeBackend:
    """Answers each program by the script: one for all, by source, or by a function of the program.

    `programs` lists what was asked, in order; `stdins` what came on the standard input of each.
    """

    name = "fake"

    def __init__(self, script: Script | None = None, *, level: Level = Level.NONE) -> None:
        self._script: Script = Scripted() if script is None else script
        layer = Layer(name="script", state=LayerState.ENFORCED, by="fake", detail="nothing runs at all")
        self.report = Report(level=level, layers=(layer,))
        self.programs: list[Program] = []
        self.stdins: list[bytes] = []
        self.closed = False

    def plan(self, policy: Policy) -> Plan:
        check_floor(policy, self.report, self.name)
        return Plan(policy=policy, environment=policy.env)

    async def acquire(self, plan: Plan, waits: Waits) -> FakeCell:  # noqa: ARG002  all plans are alike here
        return FakeCell(self, waits)

    def close(self) -> None:
        self.closed = True

    def answer(self, program: Program) -> Scripted:
        """What the script says to this program."""
        self.programs.append(program)
        if isinstance(self._script, Scripted):
            return self._script
        if not isinstance(self._script, Mapping):
            return self._script(program)
        source = program.source.decode()
        if source not in self._script:
            raise UsageError.about("script", source, "a script with an answer for every source that is run")
        return self._script[source]


class FakeCell:
    """One scripted run."""

    def __init__(self, backend: FakeBackend, waits: Waits) -> None:
        self._backend, self._waits, self.report = backend, waits, backend.report
        self._events: deque[CellEvent] = deque()
        self._ends_at = 0.0
        self._script = Scripted()

    async def start(self, program: Program, limits: Limits, stdin: Source | None) -> None:  # noqa: ARG002
        self._script = script = self._backend.answer(program)
        if script.refused is not None:
            raise SetupError(script.refused, layer="fake")
        self._backend.stdins.append(await self._read_all(stdin))
        error = script.error.to_dict() if script.error else None
        if script.rejected:
            self._events.append(Claimed("rejected", {"error": error}))
        else:
            self._events.append(Claimed("started", True))
        for stream, text in (("stdout", script.stdout), ("stderr", script.stderr)):
            data = text.encode() if isinstance(text, str) else text
            if data:
                self._events.append(Printed("stdout" if stream == "stdout" else "stderr", data))
        answer: dict[str, Any] = {"error": error} if error else {}
        if script.value is not _NO_VALUE:
            answer["value"] = script.value
        self._events.append(Claimed("answer", answer))
        self._ends_at = time.monotonic() + script.takes

    async def event(self, until: float | None) -> CellEvent | None:
        if self._events:
            return self._events.popleft()
        moment = self._ends_at if until is None else min(self._ends_at, until)
        if moment > time.monotonic():
            await self._waits.ready((), (), moment)
        if self._ends_at > time.monotonic():
            return None
        script = self._script
        return Ended(lost=script.lost, exit_code=script.exit_code, signal=script.signal, stopped=script.stopped)

    def interrupt(self) -> None:
        """A scripted program does not listen."""

    def measure(self) -> None:
        """A script uses nothing."""

    def kill(self) -> None:
        self._events.append(Ended(signal=9))

    def collect(self, inputs: tuple[Input, ...], limits: Limits) -> Collection:  # noqa: ARG002
        files = {name: OutputFile(name=name, data=data) for name, data in self._script.files.items()}
        return Collection(files, sum(file.size for file in files.values()))

    def release(self) -> None:
        """There is nothing to give back."""

    async def _read_all(self, stdin: Source | None) -> bytes:
        parts = []
        while stdin is not None:
            if stdin.fd is not None:
                await self._waits.ready([stdin.fd])
            part = stdin.read()
            if not part:
                break
            parts.append(part)
        return b"".join(parts)
