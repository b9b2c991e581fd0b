"""The middle of a run: output and claims come in, deadlines are kept, until everything in the cell is dead."""

from __future__ import annotations

import codecs
import time
from typing import TYPE_CHECKING, Any, Literal

from belljar.backends.base import Claimed, Ended, Measured, Printed
from belljar.events import Output, Sample
from belljar.outcome import Facts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from belljar.backends.base import Cell, Program
    from belljar.capture import Recorder
    from belljar.limits import Limits
    from belljar.output import Stream
    from belljar.policy import Overflow
    from belljar.stdin import Source

_PATIENCE = 10.0  # seconds for the cell to die after it was killed; after that it is lost


class Exchange:
    """Follows one run, and ends it where a limit says so."""

    def __init__(
        self, cell: Cell, limits: Limits, recorder: Recorder, overflow: Overflow, measure_every: float | None = None
    ) -> None:
        self._cell, self._limits, self._recorder, self._overflow = cell, limits, recorder, overflow
        self._measure_every = measure_every
        self._decoders = {stream: codecs.getincrementaldecoder("utf-8")("replace") for stream in recorder.streams}
        self._killed_for: str | None = None
        self._passed_deadline = False
        self._over = False
        self.began = time.monotonic()
        self.started_at: float | None = None
        self.ended_at = 0.0
        self.ending = Ended(lost=True)
        self.rejection: dict[str, Any] | None = None
        self.answer: dict[str, Any] | None = None

    async def start(self, program: Program, stdin: Source | None) -> None:
        """Hand over the program; the clock starts when all of it is there."""
        await self._cell.start(program, self._limits, stdin)
        self.began = time.monotonic()

    async def outputs(self) -> AsyncIterator[Output | Sample]:
        """What is printed, as it comes. When this is through, the cell is dead and the facts are known."""
        deadlines = self._deadlines()
        until = next(deadlines)
        look = self.began + self._measure_every if self._measure_every else until
        while True:
            event = await self._cell.event(min(until, look))
            if event is None and self._measure_every and time.monotonic() < until:
                self._cell.measure()
                look = time.monotonic() + self._measure_every
            elif event is None:
                until = next(deadlines, 0.0)
                look = max(look, until)
                if not until:
                    self._end(Ended(lost=True))
                    break
            elif isinstance(event, Printed):
                self._recorder.feed(event.stream, event.data)
                yield self._output(event.stream, event.data)
                if self._overflow == "stop" and self._recorder.overflowed and not self._killed_for:
                    self._kill("output")
            elif isinstance(event, Claimed):
                self._hear(event)
            elif isinstance(event, Measured):
                yield self._sample(event)
            else:
                self._end(event)
                break
        for stream in self._decoders:
            if rest := self._decoders[stream].decode(b"", final=True):
                yield Output(stream, rest, b"")

    async def abandon(self) -> None:
        """Kill what is still alive, because nobody wants its result any more, and wait until it is dead."""
        if self._over:
            return
        self._cell.kill()
        until = time.monotonic() + _PATIENCE
        while not self._over:
            event = await self._cell.event(until)
            if event is None or isinstance(event, Ended):
                self._end(event or Ended(lost=True))

    def facts(self, *, closed: bool, calls: bool) -> Facts:
        """What the host knows of the end. `closed`: the sandbox was closed under the run."""
        ending = self.ending
        stopped = self._killed_for or ending.stopped
        over_cpu = stopped == "cpu" or (self._used_all_cpu() and ending.signal is not None)
        deadline: Literal["wall", "cpu"] | None = "cpu" if over_cpu else None
        if self._passed_deadline or stopped == "wall":
            deadline = "wall"
        return Facts(
            exit_code=ending.exit_code,
            signal=ending.signal,
            rejected=self.rejection is not None,
            answered=not calls or (self.answer is not None and "value" in self.answer),
            deadline=deadline,
            out_of_memory=stopped == "memory",
            stopped_for=stopped if stopped in ("processes", "output", "disk", "files") else None,
            cancelled=closed and ending.lost,
            lost=ending.lost and deadline is None,
        )

    def limits_hit(self) -> set[str]:
        """The limits that were reached, whether or not that ended the run."""
        hit = {name for name in (self._killed_for, self.ending.stopped) if name} | self.ending.hit
        if self._passed_deadline:
            hit.add("wall")
        if self._recorder.overflowed:
            hit.add("output")
        if self._used_all_cpu():
            hit.add("cpu")
        return hit

    def _end(self, ending: Ended) -> None:
        self.ending, self._over, self.ended_at = ending, True, time.monotonic()

    def _deadlines(self) -> Iterator[float]:
        """Ask at the wall limit, kill after the grace, give up when even that does not end it."""
        moment = self.began + self._limits.wall
        yield moment
        self._passed_deadline = True
        self._cell.interrupt()
        moment += self._limits.grace
        yield moment
        self._cell.kill()
        yield moment + _PATIENCE

    def _kill(self, limit: str) -> None:
        self._killed_for = limit
        self._cell.kill()

    def _sample(self, measured: Measured) -> Sample:
        return Sample(
            wall=time.monotonic() - self.began,
            cpu=measured.cpu,
            memory=measured.memory,
            processes=measured.processes,
            output_bytes=self._recorder.total,
        )

    def _output(self, stream: Stream, data: bytes) -> Output:
        return Output(stream, self._decoders[stream].decode(data), data)

    def _hear(self, claim: Claimed) -> None:
        content = claim.content
        if claim.kind == "started":
            if self.started_at is None:
                self.started_at = time.monotonic()
        elif not isinstance(content, dict):
            return
        elif claim.kind == "rejected":
            if self.started_at is None:  # later it would be the word of the code
                self.rejection = content
        else:
            self.answer = content

    def _used_all_cpu(self) -> bool:
        cpu = self._limits.cpu
        return cpu is not None and self.ending.cpu_user + self.ending.cpu_system >= cpu
