"""A cell from the inside: the init, which forks the worker, watches it, and says how it ended.

The exit record that the init sends, all of it from the kernel or from its own measurements:

    status          the worker's wait status, None when the worker could not be waited for
    cpu_user, cpu_system, memory_peak    of everything that was reaped
    processes_peak  the most that were alive when the watcher looked, None when it never did
    stopped         the limit for which the init ended the run: memory, processes, cpu, wall; or None
    reached         limits that were seen to be reached, without an end
    denials         {call: how often it was refused}, where that was asked for
    orphaned        the keeper has gone, and so the run was ended
    clean           nothing is left of the cell
"""

import os
import select
import signal
import socket
import sys
import time
import traceback
from typing import NamedTuple, NoReturn

from belljar.guest import worker
from belljar.guest.rehearsal import rehearse
from belljar.linux import identity, namespaces, prctl
from belljar.linux.namespaces import Namespace
from belljar.linux.processes import descendants, sample
from belljar.linux.reaper import Reaped, end_strays, reap
from belljar.zygote import lockdown, template, walls
from belljar.zygote.denials import Denials
from belljar.zygote.protocol import Packet, receive_packet, send_packet
from belljar.zygote.stages import StageError, stage

FAST_LOOK = 0.02  # a program can fill some 60 MB in that time
SLOW_LOOK = 0.05
_LONGEST = 1e6  # seconds: poll(2) takes no more than 24 days


class Inside(NamedTuple):
    """The descriptors and settings that a cell is born with."""

    guest: int
    init: int
    stdout: int
    stderr: int
    lifeline: int
    root: str
    base_environment: dict[str, str]
    walls: Packet | None = None
    lock: lockdown.Lock | None = None
    mapped: int = -1
    hurry: bool = False
    """Somebody waits for this cell: it takes the program as it is."""

    @property
    def place(self) -> str:
        """The directory that has everything that belongs to the cell."""
        return template.JAR if self.walls else self.root

    @property
    def workspace(self) -> str:
        """Where the code runs, and where its files are."""
        return template.WORKSPACE if self.walls else os.path.join(self.root, "workspace")

    @property
    def environment(self) -> dict[str, str]:
        """What the code finds in its environment before a request adds to it."""
        temporary = "/tmp" if self.walls else os.path.join(self.root, "tmp")
        user = {"USER": "jar", "LOGNAME": "jar", "SHELL": "/bin/sh"} if self.lock else {}
        return {**self.base_environment, **user, "HOME": self.workspace, "TMPDIR": temporary}


def main(inside: Inside) -> NoReturn:
    """The life of an init."""
    code = 1
    try:
        outside = socket.socket(fileno=inside.init)
        try:
            pid, listener = _launch(inside, outside)
            facts = _facts(inside, pid)
            init = Init(outside, inside, pid, _denials(inside, listener))
            workspace = os.open(inside.workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            send_packet(outside, {"ready": facts}, (workspace,))
            os.close(workspace)
        except StageError as error:
            send_packet(outside, error.packet())
        else:
            init.serve()
            code = 0
    except ConnectionError:
        code = 0  # nobody is there any more, and everything is dead
    except BaseException:  # noqa: BLE001  a forked process must not unwind into what its parent was doing
        traceback.print_exc()
    os._exit(code)


def _launch(inside: Inside, outside: socket.socket) -> tuple[int, int | None]:
    """Fork the worker and set the cell up; returns its pid when it is ready, and where its refusals are heard of.

    The worker is forked first and waits: each process pays for the pages that it writes after the last fork.
    """
    prctl.name("belljar-init")
    with stage("descriptors"):
        close_all_but(inside.guest, inside.init, inside.stdout, inside.stderr, inside.lifeline, inside.mapped)
    if inside.walls:
        with stage("maps"):
            if os.read(inside.mapped, 1) != b"1":
                raise StageError("maps", None, "the zygote could not map the user of the cell")
            os.close(inside.mapped)
        with stage("identity"):
            identity.become(template.UID, template.UID)
    if inside.lock:
        lockdown.renounce()
    if inside.walls:
        with stage("keyring"):
            namespaces.join_new_session_keyring()
    with stage("orphans"):
        prctl.adopt_orphans()
    with stage("worker"):
        said, says = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
    if pid == 0:
        said.close()
        _become_worker(inside, says)
    says.close()
    for fd in (inside.guest, inside.stdout, inside.stderr):
        os.close(fd)
    if inside.walls:
        send_packet(outside, {"forked": pid})
        walls.build(inside.walls)
        if receive_packet(outside) is None:
            raise ConnectionAbortedError  # the keeper has gone
        # The worker is in its control group now, where there is one.
    with said:
        send_packet(said, {"on": 1})
        heard = receive_packet(said)
        receive_packet(said)  # its end, when the worker has closed what is not to be open in front of a program
    if heard is None:
        raise ConnectionAbortedError  # it was killed on the way: the keeper asks for another cell
    if "failed" in heard[0]:
        raise StageError.from_packet(heard[0])
    return pid, heard[1][0] if heard[1] else None


def _denials(inside: Inside, listener: int | None) -> Denials | None:
    if listener is None or not inside.lock or inside.lock.traced is None:
        return None
    return Denials(listener, inside.lock.traced)


def _facts(inside: Inside, worker_pid: int) -> Packet:
    """What holds in this cell, as the kernel tells it; a StageError where it is not what it must be."""
    if not inside.lock:
        return {}
    if inside.walls:
        lockdown.lock_init()
    try:
        held = lockdown.check(worker_pid, inside.lock)
    except StageError:
        if reap(worker_pid):
            raise ConnectionAbortedError from None  # there was nothing to look at: it was killed on the way
        raise
    settings = {name: inside.walls[name] for name in ("disk", "files", "network", "rootful")} if inside.walls else {}
    return {**held, **settings}


def close_all_but(*keep: int) -> None:
    """Close every descriptor from 3 on that is not to be kept."""
    low = 3
    for fd in sorted(fd for fd in keep if fd >= low):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def _become_worker(inside: Inside, says: socket.socket) -> NoReturn:
    try:
        if receive_packet(says) is None:
            os._exit(70)  # the init has ended
        if inside.walls:
            with stage("cgroup namespace"):
                namespaces.unshare(Namespace.CGROUP)  # so that its group is the root of what it sees
        _set_worker_up(inside, says.fileno())
        listener = lockdown.lock(inside.lock, () if inside.walls else (inside.root,)) if inside.lock else None
        if not inside.hurry:
            rehearse(inside.place)
        send_packet(says, {"ready": 1}, () if listener is None else (listener,))
        if listener is not None:
            os.close(listener)
        os.close(says.detach())
        worker.main(inside.guest, inside.place, inside.environment)
    except StageError as error:
        send_packet(says, error.packet())
    except BaseException:  # noqa: BLE001  as in main
        traceback.print_exc()
    os._exit(70)


def _set_worker_up(inside: Inside, says: int) -> None:
    with stage("session"):
        prctl.name("python")
        prctl.die_with_parent(signal.SIGKILL)
        os.setsid()
    with stage("streams"):
        null = os.open("/dev/null", os.O_RDWR)  # one of its own: flags and locks belong to what was opened
        os.dup2(null, 0)
        os.dup2(inside.stdout, 1)
        os.dup2(inside.stderr, 2)
        close_all_but(inside.guest, says)
    with stage("workspace"):
        os.chdir(inside.workspace)
    for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(signum, signal.SIG_DFL)


class Init:
    """Watches one worker and all that descends from it."""

    def __init__(self, caller: socket.socket, inside: Inside, worker_pid: int, denials: Denials | None = None) -> None:
        self._caller, self._lifeline, self._worker = caller, inside.lifeline, worker_pid
        self._walls, self._lock, self._denials = inside.walls, inside.lock, denials
        self._pidfd = os.pidfd_open(worker_pid)
        self._limits: Packet = {}
        self._deadline = self._next_look = float("inf")
        self._stopped: str | None = None
        self._orphaned = False
        self._reaped: list[Reaped] = []
        self._memory_peak = 0
        self._processes_peak: int | None = None

    def serve(self) -> None:
        """Until the worker has ended, or nobody wants it any more; then everything below dies."""
        poll = select.poll()
        for fd in (self._pidfd, self._caller.fileno(), self._lifeline):
            poll.register(fd, select.POLLIN)
        if self._denials:
            poll.register(self._denials.listener, select.POLLIN)
        wanted = True
        while wanted:
            pause = min(self._next_look, self._deadline) - time.monotonic()
            ready = [fd for fd, _ in poll.poll(None if pause == float("inf") else max(0, min(pause, _LONGEST) * 1000))]
            if self._pidfd in ready or self._lifeline in ready:
                self._orphaned = self._pidfd not in ready
                wanted = False
            elif self._caller.fileno() in ready:
                wanted = self._hear()
            elif self._denials and self._denials.listener in ready:
                wanted = self._answer_refusal(self._denials)
            else:
                wanted = self._look()
        self._end()

    def _hear(self) -> bool:
        heard = receive_packet(self._caller)
        if heard is None or "kill" in heard[0]:
            return False
        packet = heard[0]
        if "go" in packet:
            self._go(packet["go"])
        elif "signal" in packet:
            os.kill(self._worker, packet["signal"])
        elif "measure" in packet:
            used = sample(descendants(os.getpid()), 0)
            send_packet(self._caller, {"measured": used._asdict()})
        return True

    def _go(self, limits: Packet) -> None:
        self._limits = limits
        now = time.monotonic()
        self._deadline = now + limits["wall"]
        if any(limits[name] is not None for name in ("memory", "processes", "cpu")):
            self._next_look = now + FAST_LOOK
        if self._walls and self._lock:
            if (limits["disk"], limits["files"]) != (self._walls["disk"], self._walls["files"]):
                walls.resize(limits["disk"], limits["files"])
                send_packet(self._caller, {"sized": 1})
            lockdown.finish_init(self._lock)

    def _look(self) -> bool:
        """Measure the tree and compare it with the limits; False when it has to end."""
        now = time.monotonic()
        if now >= self._deadline:
            self._stopped = "wall"
            return False
        self._collect_orphans()
        used = sample(descendants(os.getpid()), self._limits["memory"])
        self._memory_peak = max(self._memory_peak, used.memory)
        self._processes_peak = max(self._processes_peak or 0, used.processes)
        cpu = used.cpu + sum(gone.cpu_user + gone.cpu_system for gone in self._reaped)
        over = {"memory": used.memory, "processes": used.processes, "cpu": cpu}
        limits = {name: self._limits[name] for name in over if self._limits[name] is not None}
        self._stopped = next((name for name, most in limits.items() if over[name] > most), None)
        near = "memory" in limits and used.memory > limits["memory"] / 2
        self._next_look = now + (FAST_LOOK if near else SLOW_LOOK)
        return self._stopped is None

    def _collect_orphans(self) -> None:
        """Reap what was adopted and has ended; the worker stays, its end is waited for by pidfd."""
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid == self._worker:
                return
            gone = reap(found.si_pid)
            if gone is not None:
                self._reaped.append(gone)

    def _reap_the_dead(self) -> bool:
        """Reap without killing: most runs leave nobody. True when no child is left."""
        try:
            while gone := reap():
                self._reaped.append(gone)
        except ChildProcessError:
            return True
        return False

    def _answer_refusal(self, denials: Denials) -> bool:
        """One at a time; what else there is to do is not kept waiting by a program that makes many."""
        denials.answer()
        return self._look() if time.monotonic() >= min(self._next_look, self._deadline) else True

    def _reached(self) -> list[str]:
        limit = self._limits.get("processes")
        return ["processes"] if limit is not None and (self._processes_peak or 0) >= limit else []

    def _end(self) -> None:
        clean = self._reap_the_dead()
        if not clean:
            left = sample(descendants(os.getpid())).processes + 1  # and the worker, which has just ended
            self._processes_peak = max(self._processes_peak or 0, left)
            gone, clean = end_strays()
            self._reaped += gone
        mine = next((child for child in self._reaped if child.pid == self._worker), None)
        record = {
            "status": mine.status if mine else None,
            "cpu_user": sum(child.cpu_user for child in self._reaped),
            "cpu_system": sum(child.cpu_system for child in self._reaped),
            "memory_peak": max([self._memory_peak, *(child.memory_peak for child in self._reaped)]),
            "processes_peak": self._processes_peak,
            "stopped": self._stopped,
            "reached": self._reached(),
            "denials": self._denials.counts if self._denials else {},
            "orphaned": self._orphaned,
            "clean": clean,
        }
        send_packet(self._caller, {"exit": record})
        if not clean:
            print("belljar: a process could not be ended", file=sys.stderr, flush=True)
