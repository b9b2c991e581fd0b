"""A cell made of processes on this machine: our ends of its sockets and pipes."""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from collections import deque
from typing import TYPE_CHECKING, Any

from belljar.backends.base import CellEvent, Ended, Measured, Printed, claims_of
from belljar.files import collect
from belljar.plan import rlimits
from belljar.zygote.protocol import Claims, receive_packet, send_packet

if TYPE_CHECKING:
    from belljar.backends.base import Program
    from belljar.files import Collection, Input
    from belljar.limits import Limits
    from belljar.output import Stream
    from belljar.report import Report
    from belljar.stdin import Source
    from belljar.waits import Waits
    from belljar.zygote.client import Taken
    from belljar.zygote.protocol import Packet

_BLOCK = 1 << 16
_LATE = 1.0  # seconds after which the init ends a run by itself, should we not have


class ProcessCell:
    """One parked cell, used once."""

    def __init__(self, taken: Taken, waits: Waits, report: Report) -> None:
        self._taken, self._waits, self.report = taken, waits, report
        self._guest = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, taken.guest)
        self._init = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, taken.init)
        self._guest.setblocking(False)
        self._pipes: dict[int, Stream] = {taken.stdout: "stdout", taken.stderr: "stderr"}
        for fd in self._pipes:
            os.set_blocking(fd, False)
        self._nonce = os.urandom(8).hex()
        self._claims = Claims(self._nonce)
        self._events: deque[CellEvent] = deque()
        self._reads = [taken.guest, taken.init, taken.stdout, taken.stderr]
        self._stdin: Source | None = None
        self._stdin_inlet: int | None = None
        self._stdin_rest = memoryview(b"")

    async def start(self, program: Program, limits: Limits, stdin: Source | None) -> None:
        header = {
            "n": self._nonce,
            "kind": program.kind,
            "filename": program.filename,
            "source": len(program.source),
            "files": [(file.name, file.size, file.mode) for file in program.inputs],
            "args": program.args,
            "env": dict(program.environment),
            "rlimits": self._rlimits(limits),
            "cpus": limits.cpus,
            "call": program.call,
            "steps": program.steps,
        }
        text = json.dumps(header, separators=(",", ":")).encode()
        self._tell_init(
            {
                "go": {
                    **self._watched(limits),
                    "wall": limits.wall + limits.grace + _LATE,
                    "disk": limits.disk,
                    "files": limits.files,
                }
            }
        )
        await self._shape(limits)
        await self._send(struct.pack(">I", len(text)) + text + program.source, self._open_stdin(stdin))
        for file in program.inputs:
            for block in file.blocks():
                await self._send(block)

    async def event(self, until: float | None) -> CellEvent | None:
        while not self._events:
            reads, writes = self._wanted()
            ready = await self._waits.ready(reads, writes, until)
            if not ready:
                return None
            for fd in ready:
                self._hear(fd)
        return self._events.popleft()

    def interrupt(self) -> None:
        self._tell_init({"signal": 2})

    def measure(self) -> None:
        self._tell_init({"measure": 1})

    def kill(self) -> None:
        self._tell_init({"kill": 1})

    def collect(self, inputs: tuple[Input, ...], limits: Limits) -> Collection:
        return collect(self._taken.workspace, inputs, limits)

    def release(self) -> None:
        """Closing our end of the init's socket is what ends a cell that still lives."""
        self._close_stdin()
        self._guest.close()
        self._init.close()
        for fd in (*self._pipes, self._taken.workspace):
            os.close(fd)
        self._taken.link.release(self._taken.cell)

    def _watched(self, limits: Limits) -> dict[str, float | None]:
        """The limits that the init has to watch."""
        return {"memory": limits.memory, "processes": limits.processes, "cpu": limits.cpu}

    def _rlimits(self, limits: Limits) -> dict[str, int]:
        """The limits that the worker sets for itself."""
        return rlimits(limits)

    async def _shape(self, limits: Limits) -> None:
        """Wait until the cell has the shape of these limits, where it was parked with another."""

    def _ended(self, record: Packet) -> Ended:
        """The facts in the last word of the init."""
        status = record["status"]
        code = os.waitstatus_to_exitcode(status) if status is not None else None
        return Ended(
            lost=code is None or record["orphaned"] or not record["clean"],
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stopped=record["stopped"],
            hit=frozenset(record["reached"]),
            denials=record["denials"],
            cpu_user=record["cpu_user"],
            cpu_system=record["cpu_system"],
            memory_peak=record["memory_peak"],
            processes_peak=record["processes_peak"],
        )

    async def _send(self, data: bytes, descriptors: tuple[int, ...] = ()) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
                sent = self._guest.sendmsg([rest], rights, socket.MSG_NOSIGNAL)
                for fd in descriptors:
                    os.close(fd)
                rest, descriptors = rest[sent:], ()
            except BlockingIOError:
                await self._waits.ready((), (self._guest.fileno(),))
            except OSError:
                for fd in descriptors:
                    os.close(fd)
                return  # the worker is gone: the init says how

    def _open_stdin(self, source: Source | None) -> tuple[int, ...]:
        if source is None:
            return ()
        outlet, self._stdin_inlet = os.pipe()
        os.fchmod(outlet, 0o666)  # /dev/stdin is opened anew, by the user of the cell
        os.set_blocking(self._stdin_inlet, False)
        self._stdin = source
        return (outlet,)

    def _wanted(self) -> tuple[list[int], tuple[int, ...]]:
        """The descriptors to wait for now."""
        if self._stdin is None or self._stdin_inlet is None:
            return self._reads, ()
        if self._stdin_rest or self._stdin.fd is None:
            return self._reads, (self._stdin_inlet,)
        return [*self._reads, self._stdin.fd], ()

    def _hear(self, fd: int) -> None:
        if fd in self._pipes:
            self._read_pipe(fd)
        elif fd == self._taken.guest:
            self._read_guest()
        elif fd == self._taken.init:
            self._read_init()
        else:
            self._feed_stdin()

    def _read_pipe(self, fd: int) -> bool:
        """Read once; False when there is nothing more for now."""
        try:
            data = os.read(fd, _BLOCK)
        except BlockingIOError:
            return False
        if data:
            self._events.append(Printed(self._pipes[fd], data))
        elif fd in self._reads:
            self._reads = [other for other in self._reads if other != fd]
        return bool(data)

    def _read_guest(self) -> bool:
        try:
            data = self._guest.recv(_BLOCK)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True  # it ended with input unread, which is said once: what it has sent comes now
        for packet in self._claims.feed(data):
            self._events.extend(claims_of(packet))
        if not data:
            self._reads = [other for other in self._reads if other != self._taken.guest]
        return bool(data)

    def _read_init(self) -> None:
        heard = receive_packet(self._init)
        if heard is not None and "measured" in heard[0]:
            self._events.append(Measured(**heard[0]["measured"]))
            return
        self._drain()
        if heard is None:
            self._events.append(Ended(lost=True))
        else:
            self._events.append(self._ended(heard[0]["exit"]))
        self._reads = []

    def _drain(self) -> None:
        """All writers are dead: take what they left. Without waiting, as somebody outside may hold the pipe."""
        for fd in self._pipes:
            while self._read_pipe(fd):
                pass
        while self._read_guest():
            pass

    def _feed_stdin(self) -> None:
        assert self._stdin is not None
        assert self._stdin_inlet is not None
        if not self._stdin_rest:
            self._stdin_rest = memoryview(self._stdin.read())
            if not self._stdin_rest:
                self._close_stdin()
                return
        try:
            self._stdin_rest = self._stdin_rest[os.write(self._stdin_inlet, self._stdin_rest) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._close_stdin()  # the program has closed its stdin, or has ended

    def _close_stdin(self) -> None:
        if self._stdin_inlet is not None:
            os.close(self._stdin_inlet)
            self._stdin_inlet = None
        self._stdin = None

    def _tell_init(self, packet: dict[str, Any]) -> None:
        try:
            send_packet(self._init, packet)
        except OSError:
            pass  # it is gone, which reading from it will tell
