"""The caller's end: starts a keeper, takes cells from it, tells it when they are over."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
import weakref
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from belljar.errors import SetupError, UsageError
from belljar.gate import Gate
from belljar.zygote.protocol import Packet, receive_packet, send_packet

if TYPE_CHECKING:
    from belljar.waits import Waits

_BOOT = os.path.join(os.path.dirname(__file__), "boot.py")
_CONTROL, _OWNER = 3, 4
_FIRST_FREE = 10
_LONGEST_LOG = 4000
_RETIRED_AFTER = 10_000  # cells; fewer share one address layout, and what may have leaked in a zygote goes with it
_KEEPERS = 10  # one that has died is replaced; when none lives, something is wrong
_PATIENCE = 180.0  # seconds for the first cell, with all that is to be preloaded


@dataclass(frozen=True, slots=True)
class Taken:
    """A cell that is ours now: its name, what holds in it, and our ends of its descriptors."""

    link: Link
    cell: str
    facts: Packet
    group: Packet | None
    guest: int
    init: int
    stdout: int
    stderr: int
    workspace: int


class Keeper:
    """Cells from a keeper process, which is started at the first need, and again when it has died."""

    def __init__(self, *, python: str, settings: Packet) -> None:
        self._python, self._settings = python, settings
        self._lock = Lock()
        self._link: Link | None = None
        self.closed = False

    def start(self) -> Link:
        """The link to a living keeper of this process."""
        with self._lock:
            if self.closed:
                raise UsageError("the sandbox is closed: make a new one.", field="sandbox")
            link = self._link
            if link is not None and link.owner != os.getpid():
                link.forget()  # we are a fork of the process that it belongs to
                link = None
            if link is not None and link.taken >= _RETIRED_AFTER:
                link.retire()
                link = None
            if link is None or link.dead:
                _bury_keepers()
                link = self._link = Link(self._python, {**self._settings, "base": tempfile.gettempdir()})
            return link

    async def take(self, waits: Waits) -> Taken:
        """The next cell: a parked one at once, else as soon as there is one."""
        said = ""
        for _ in range(_KEEPERS):
            link = self.start()
            taken = await link.take(waits)
            if taken is not None:
                return taken
            said = link.log()
        raise SetupError(f"{_KEEPERS} keepers have ended at once, the last one with: {said}", layer="keeper")

    def close(self) -> None:
        """Let the keeper go, which ends all of its cells and removes what they left."""
        with self._lock:
            self.closed = True
            if self._link is not None and self._link.owner == os.getpid():
                self._link.close()
            elif self._link is not None:
                self._link.forget()
            self._link = None


class Link:
    """One keeper process, and the socket that keeps it alive."""

    def __init__(self, python: str, settings: Packet) -> None:
        self.owner = os.getpid()
        self.dead = False
        self.taken = self._live = 0
        self._retired = False
        self._counting = Lock()
        self._turns = Gate(1)
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = os.memfd_create("belljar-keeper-log", os.MFD_CLOEXEC)
        owner = os.pidfd_open(self.owner)
        try:
            self._starter: int | None = _spawn(python, theirs.fileno(), owner, self._log)
        except OSError as error:
            mine.close()
            os.close(self._log)
            raise SetupError(f"{python} cannot be started", layer="keeper", errno=error.errno) from error
        finally:
            theirs.close()
            os.close(owner)
        self._socket = mine
        # A Sandbox that is dropped without close() must not keep its keeper: its socket has to go with it.
        self._closer = weakref.finalize(self, mine.close)
        weakref.finalize(self, os.close, self._log)  # later: whoever meets a closed link still reads what it said
        self._send({"hello": settings})

    async def take(self, waits: Waits) -> Taken | None:
        """A cell of this keeper; None when the keeper is gone."""
        if not self._send({"take": 1}):
            return None
        self._count(1)
        try:
            heard = await self._next(waits)
            self._see_starter_off()
            return self._taken_from(heard)
        except BaseException:
            self._count(-1)
            raise

    def _taken_from(self, heard: Any) -> Taken | None:
        if heard is None:
            self.dead = True
            return None
        packet, descriptors = heard
        if "failed" in packet:
            from belljar.linux.support import explain  # only where something has failed

            reason, cure = explain(packet["failed"], packet["errno"])
            text = packet["text"] if packet["errno"] is None else reason
            raise SetupError(text, layer=packet["failed"], errno=packet["errno"], cure=cure)
        return Taken(self, packet["cell"], packet["facts"], packet.get("group"), *descriptors)

    def release(self, cell: str) -> None:
        """The cell is over: its keeper may remove what it left."""
        self._send({"release": cell})
        self._count(-1)

    def retire(self) -> None:
        """Give out no more cells, and go when the last one that lives is over: forks of one zygote are alike."""
        with self._counting:
            self._retired = True
        self._count(0)

    def _count(self, change: int) -> None:
        with self._counting:
            self.taken += max(0, change)
            self._live += change
            over = self._retired and self._live <= 0
        if over:
            self._closer()  # the keeper sees that we have gone, and cleans up by itself

    def log(self) -> str:
        """The end of what the keeper and its children have said on stderr."""
        size = os.fstat(self._log).st_size
        return os.pread(self._log, _LONGEST_LOG, max(0, size - _LONGEST_LOG)).decode("utf-8", "replace").strip()

    def forget(self) -> None:
        """Close our copies, in a process that the keeper does not belong to."""
        self._closer()

    def close(self) -> None:
        """Let the keeper go, and wait until it has cleaned up: it closes its end last."""
        self._socket.shutdown(socket.SHUT_WR)
        self._socket.settimeout(10)
        try:
            while (heard := receive_packet(self._socket)) is not None:
                for fd in heard[1]:
                    os.close(fd)
        except TimeoutError:
            pass  # it is stuck on something that cannot be killed; it goes on without us
        self._see_starter_off()
        self._closer()
        _bury_keepers()

    def _send(self, packet: Packet) -> bool:
        try:
            send_packet(self._socket, packet)
        except OSError:
            self.dead = True
        return not self.dead

    def _receive_now(self) -> Any:
        try:
            return receive_packet(self._socket, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return _NOTHING_YET
        except OSError:
            return None  # another thread has closed it

    async def _next(self, waits: Waits) -> Any:
        """The next cell, in the order in which they were asked for."""
        try:
            await self._turns.enter(waits)
        except BaseException:
            self._send({"untake": 1})
            raise
        try:
            heard = self._receive_now()
            return await self._receive(waits) if heard is _NOTHING_YET else heard
        finally:
            self._turns.leave()

    async def _receive(self, waits: Waits) -> Any:
        # Not the socket itself: it may be closed by another thread, and its number be somebody else's then.
        try:
            mine = os.dup(self._socket.fileno())
        except OSError:
            return None  # another thread has closed it
        until = time.monotonic() + _PATIENCE
        try:
            while True:
                if not await waits.ready([mine], (), until):
                    raise SetupError(f"no cell was ready within {_PATIENCE:.0f} s", layer="keeper")
                heard = self._receive_now()
                if heard is not _NOTHING_YET:
                    return heard
        except BaseException:
            self._send({"untake": 1})
            raise
        finally:
            os.close(mine)

    def _see_starter_off(self) -> None:
        """Reap the process that started the keeper and ended at once; kill it if it never did that."""
        starter, self._starter = self._starter, None
        if starter is None:
            return
        try:
            if os.waitpid(starter, os.WNOHANG) == (0, 0):
                os.kill(starter, signal.SIGKILL)
                os.waitpid(starter, 0)
        except ChildProcessError:
            pass  # the caller reaps its children by itself


_NOTHING_YET = object()


def _bury_keepers() -> None:
    """Where we are the first process, as in a container, keepers are ours to reap: they are orphans from birth."""
    if os.getpid() != 1:
        return
    from belljar.linux.processes import children

    for pid in children(1):
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                if stat.read().startswith(b"%d (belljar-keeper) Z" % pid):
                    os.waitpid(pid, os.WNOHANG)
        except (FileNotFoundError, ProcessLookupError, ChildProcessError):
            continue  # somebody else has reaped it


def _spawn(python: str, control: int, owner: int, log: int) -> int:
    """Start boot.py with nothing of ours but its two descriptors."""
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}
    environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if "LD_LIBRARY_PATH" in os.environ:  # some interpreters do not start without
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    # The numbers that they get must not be those of one that is still to be moved.
    high = [_high(fd) for fd in (null, null, log, control, owner)]
    try:
        return os.posix_spawn(
            python,
            [python, "-I", "-X", "utf8", _BOOT, str(_CONTROL), str(_OWNER)],
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(high)],
            setsid=True,
            setsigmask=[],
            setsigdef=[signal.SIGCHLD, signal.SIGPIPE],
        )
    finally:
        for fd in (null, *high):
            os.close(fd)


def _high(fd: int) -> int:
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE)
