"""The keeper: keeps cells parked, and keeps the promises of a caller that has died."""

import os
import select
import signal
import socket
import sys
import traceback
from itertools import count
from typing import NamedTuple, NoReturn

from belljar.linux import namespaces, prctl, userids
from belljar.linux.pidfd import pid_of
from belljar.linux.processes import children
from belljar.linux.reaper import end_strays
from belljar.zygote import ends, template
from belljar.zygote.groups import Groups
from belljar.zygote.protocol import Packet, receive_packet, send_packet
from belljar.zygote.stages import StageError, stage
from belljar.zygote.users import Users
from belljar.zygote.workroot import WorkRoot, sweep


def main(control: int, owner: int) -> NoReturn:
    """Serve the caller at the other end of `control` until it closes it, or the process of pidfd `owner` ends."""
    code = 0
    try:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(signum, signal.SIG_IGN)  # a Ctrl+C at the caller's terminal is the caller's business
        prctl.name("belljar-keeper")
        prctl.adopt_orphans()
        keeper = Keeper(socket.socket(fileno=control), owner)
        try:
            keeper.serve()
        finally:
            keeper.close()
    except ConnectionError:
        pass  # the caller has gone in the middle of a word
    except ZygoteError:
        code = 1  # it has said why itself
    except BaseException:  # noqa: BLE001  told, and then the end
        traceback.print_exc()  # to the log that the caller reads when we end too early
        code = 1
    os._exit(code)


_STILLBORN: Packet = {"failed": "init", "errno": None, "text": "it ended before it was ready"}
_TRIES = 50  # zygotes or cells in a row that die on their way without a word
_PRESSED = 20  # takes after one that had to wait, for which no cell takes the time to rehearse
_CALM = 200  # takes in a row that found a cell parked, after which one less is kept


class ZygoteError(Exception):
    """A zygote has ended before it was ready, and another one would too."""


class Launch(NamedTuple):
    """A cell that has been forked and is not ready yet: its name, its init, the caller's ends of its descriptors."""

    cell: str
    process: int
    guest: int
    init: int
    stdout: int
    stderr: int


class Keeper:
    """One caller, one zygote, and the cells between them."""

    def __init__(self, caller: socket.socket, owner: int) -> None:
        self._caller, self._owner = caller, owner
        hello = receive_packet(caller)
        if hello is None:
            os._exit(0)
        self._settings: Packet = hello[0]["hello"]
        sweep(self._settings["base"])
        self._root = WorkRoot(self._settings["base"])
        self._lifeline, self._lifeline_holder = os.pipe()
        self._taken = self._asked = self._answered = self._released = 0
        self._names = count(1)
        self._most: int = self._settings["parked"]
        self._spare = min(1, self._most)
        self._waited_for = self._pressed = self._stillborn = 0
        self._walls: Packet | None = self._settings["walls"]
        self._users = Users() if self._walls and self._walls["rootful"] else None
        if self._walls and self._users:
            self._walls["base"] = self._users.base
        self._user_of: dict[str, int] = {}
        self._groups = Groups(self._walls["group"]) if self._walls else None
        self._inits: dict[str, int] = {}
        self._ends: dict[str, ends.Ends] = {}
        self._launching: dict[int, Launch] = {}
        self._enclosed: dict[str, Packet] = {}
        self._zygote_pid: int | None = None

    def serve(self) -> None:
        """Until the caller is gone."""
        try:
            self._start_zygote()
        except StageError as error:
            self._refuse(error.packet())
            raise ZygoteError(error.text) from error
        while True:
            self._ask_for_cells()
            poll = select.poll()
            for fd in (self._caller.fileno(), self._owner, self._zygote.fileno(), *self._launching):
                poll.register(fd, select.POLLIN)
            ready = {fd for fd, _ in poll.poll()}
            for fd in ready & self._launching.keys():
                self._hear_init(self._launching.pop(fd))
            if self._zygote.fileno() in ready:
                self._hear_zygote()
            if self._owner in ready:
                return
            if self._caller.fileno() in ready and not self._hear_caller():
                return

    def close(self) -> None:
        """End every cell, then the zygote, and remove what they left."""
        os.close(self._lifeline_holder)
        self._zygote.close()
        # An init may be waiting for its group, where it does not see the end of the lifeline.
        for init in [launch.init for launch in self._launching.values()] + [mine.init for mine in self._ends.values()]:
            os.close(init)
        if self._zygote_pid is not None:
            _wait(self._zygote_pid, 8.0)
        end_strays()
        if self._groups:
            self._groups.close()
        self._root.close()
        self._caller.close()  # last: a caller that waits for us sees now that nothing is left

    def _start_zygote(self) -> None:
        self._zygote, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._failure: Packet | None = None
        self._ready = False
        with stage("namespaces"):
            pid = namespaces.fork_into(template.namespaces_of(self._walls)) if self._walls else os.fork()
        if pid == 0:
            from belljar.zygote import server

            for fd in (self._caller.detach(), self._owner, self._lifeline_holder, self._zygote.detach()):
                os.close(fd)
            server.main(theirs, self._lifeline, self._settings, self._root.path)
        self._zygote_pid = pid
        theirs.close()

    def _refuse(self, failure: Packet) -> None:
        """There will be no cell: say why to the first who wants one."""
        while (heard := receive_packet(self._caller)) is not None:
            if "take" in heard[0]:
                self._answer(failure)
                return

    def _ask_for_cells(self) -> None:
        # The first run of a process is often its only one: no spare cell before the second.
        spare = self._spare if self._taken > 1 else 0
        first = min(1, self._most)
        while self._ready and self._asked < max(self._taken, self._released + spare, first):
            self._asked += 1
            cell = str(next(self._names))
            root = self._root.path if self._walls else self._root.make(cell)
            hurry = self._asked <= self._taken or self._pressed > 0
            packet: Packet = {"fork": cell, "root": root, "hurry": hurry}
            if self._walls:
                packet["uid"] = template.UID + self._offset_for(cell)
            self._ends[cell], inside = ends.make()
            try:
                send_packet(self._zygote, packet, inside)
            except ConnectionError:
                return  # it has died: its end of the socket says so next
            finally:
                inside.close()

    def _offset_for(self, cell: str) -> int:
        """The user of a cell: its own, but where mounts of the policy have an owner, who can be one only."""
        if not self._users or not self._walls or self._walls["mounts"]:
            return 0
        self._user_of[cell] = self._users.take()
        return self._user_of[cell]

    def _hear_caller(self) -> bool:
        heard = receive_packet(self._caller)
        if heard is None:
            return False
        packet = heard[0]
        if "take" in packet:
            self._adapt()
            self._taken += 1
        elif "untake" in packet:
            self._taken -= 1
        elif "release" in packet:
            self._released += 1
            self._release(packet["release"])
        return True

    def _adapt(self) -> None:
        """Park one more when somebody has to wait, one less when nobody had to for long."""
        if self._answered > self._taken:
            self._waited_for += 1
            self._pressed -= self._pressed > 0
            if self._waited_for >= _CALM:
                self._spare, self._waited_for = max(min(1, self._most), self._spare - 1), 0
        else:
            self._spare, self._waited_for = min(self._most, self._spare + 1), 0
            self._pressed = _PRESSED

    def _release(self, cell: str) -> None:
        self._bury(self._inits.pop(cell, None))
        if self._groups:
            self._groups.release(cell)
        if self._users and cell in self._user_of:
            self._users.give_back(self._user_of.pop(cell))
        try:
            if not self._walls:
                self._root.remove(cell)
        except OSError as error:
            print(f"belljar: {self._root.path}/{cell} cannot be removed: {error}", file=sys.stderr, flush=True)

    def _bury(self, init: int | None) -> None:
        """An init whose zygote has died before it is our child, and has just ended or is about to."""
        if init is not None and init in children(os.getpid()):
            _wait(init, 1.0)

    def _hear_zygote(self) -> None:
        heard = receive_packet(self._zygote)
        if heard is None:
            self._replace_zygote()
            return
        packet, descriptors = heard
        if "ready" in packet:
            self._ready = True
        elif "failed" in packet:
            self._failure = packet
        elif "map" in packet:
            self._map_users()
        else:
            (process,) = descriptors
            launch = Launch(packet["cell"], process, **self._ends.pop(packet["cell"])._asdict())
            pid = pid_of(launch.process)
            if pid is not None:
                self._inits[launch.cell] = pid
            self._launching[launch.init] = launch

    def _map_users(self) -> None:
        """Give the zygote its block of users: 1000 and up inside, ours outside."""
        assert self._users is not None
        assert self._zygote_pid is not None
        users = [(template.UID, self._users.base, userids.BLOCK)]
        try:
            namespaces.write_maps(self._zygote_pid, users, users, deny_setgroups=False)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return  # it has died, and says so next; a zombie's maps belong to somebody else
        try:
            send_packet(self._zygote, {"mapped": 1})
        except ConnectionError:
            pass  # as above

    def _hear_init(self, launch: Launch) -> None:
        """A launch goes on, is through, says which stage of it has failed, or has died on the way."""
        init = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, launch.init)
        try:
            heard = receive_packet(init)
            if heard is not None and "forked" in heard[0]:
                self._enclosed[launch.cell] = self._enclose(launch)
                send_packet(init, {"on": 1})
                self._launching[launch.init] = launch
                return
        except ConnectionError:
            heard = None
        finally:
            init.detach()
        packet, workspace = heard or (_STILLBORN, [])
        enclosed = self._enclosed.pop(launch.cell, {})
        if "ready" in packet:
            self._stillborn = 0
            cell = {"cell": launch.cell, "facts": packet["ready"], **enclosed}
            self._answer(cell, (launch.guest, launch.init, launch.stdout, launch.stderr, *workspace))
        else:
            self._release(launch.cell)
            self._stillborn += 1
            if heard is None and self._stillborn < _TRIES:
                self._asked -= 1  # another one is asked for in its place
            else:
                self._answer(packet)
                self._released += 1  # who is told of a failure has nothing to give back
        for fd in (launch.process, launch.guest, launch.init, launch.stdout, launch.stderr, *workspace):
            os.close(fd)

    def _enclose(self, launch: Launch) -> Packet:
        """Put the worker into its group, before there is a program that could be outside of it."""
        if self._groups is None or launch.cell not in self._inits:
            return {}
        return {"group": self._groups.enclose(launch.cell, self._inits[launch.cell]), "no_group": self._groups.reason}

    def _answer(self, packet: Packet, descriptors: tuple[int, ...] = ()) -> None:
        self._answered += 1
        send_packet(self._caller, packet, descriptors)

    def _replace_zygote(self) -> None:
        """The zygote has died: the cells that it had been asked for are lost, those that live go on."""
        self._zygote.close()
        assert self._zygote_pid is not None
        status = os.waitpid(self._zygote_pid, 0)[1]
        self._zygote_pid = None
        text = f"the zygote ended with status {os.waitstatus_to_exitcode(status)}"
        failure = self._failure or {"failed": "zygote", "errno": None, "text": text}
        if not self._ready:
            self._stillborn += 1
        if not self._ready and (self._failure or self._stillborn >= _TRIES):
            while self._answered < self._taken:
                self._answer(failure)
            raise ZygoteError(text)
        for cell in list(self._ends):  # what it still owed, the next one is asked for
            self._ends.pop(cell).close()
            self._release(cell)
        self._asked = self._answered + len(self._launching)
        end_strays(keep=set(self._inits.values()))
        self._start_zygote()


def _wait(pid: int, within: float) -> None:
    """Wait for our child `pid`, and kill it when it takes longer than `within` seconds."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if not poll.poll(within * 1000):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(handle)
