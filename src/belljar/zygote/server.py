"""The zygote: imports once, freezes, and forks cells. It runs no user code and sees none."""

import gc
import importlib
import os
import select
import socket
import sys
import traceback
from typing import NoReturn

from belljar.guest.rehearsal import rehearse
from belljar.linux import identity, namespaces, prctl
from belljar.linux.namespaces import Namespace
from belljar.linux.reaper import end_strays
from belljar.zygote import cell, lockdown, template, walls
from belljar.zygote.ends import Ends
from belljar.zygote.protocol import Packet, receive_packet, send_packet
from belljar.zygote.stages import StageError, stage

_REHEARSALS = 20  # bytecode specialises itself within 16 runs or so, which writes to it
_IDLE = 30  # milliseconds without a request, after which there is time to rehearse


def main(keeper: socket.socket, lifeline: int, settings: Packet, mountpoint: str) -> NoReturn:
    """Serve the keeper until it is gone, then see every cell out."""
    code = 1
    try:
        prctl.name("belljar-zygote")
        prctl.adopt_orphans()
        lock = lockdown.prepare(settings) if settings["locked"] else None
        if settings["walls"]:
            enter_walls(keeper, settings["walls"], mountpoint)
            # What is the same for each cell, looked up once.
            settings["walls"] |= {"covers": walls.look_at_proc(settings["walls"]), "hidden": walls.hidden_places()}
        zygote = Zygote(keeper, lifeline, settings, lock, mountpoint)
        zygote.preload()
        zygote.serve()
        zygote.close()
        code = 0
    except StageError as error:
        send_packet(keeper, error.packet())
    except ConnectionError:
        code = 0  # the keeper has gone, and everything goes with it
    except BaseException:  # noqa: BLE001  a forked process must not unwind into what its parent was doing
        traceback.print_exc()
    os._exit(code)


def enter_walls(keeper: socket.socket, settings: Packet, mountpoint: str) -> None:
    """Move into the template root as somebody who is nobody outside. The keeper has forked us into our namespaces."""
    if settings["rootful"]:
        template.build(settings, mountpoint)
        with stage("user namespace"):
            os.setgroups([])
            namespaces.unshare(Namespace.USER)
            send_packet(keeper, {"map": 1})
            if receive_packet(keeper) is None:
                raise ConnectionResetError
            identity.become(template.UID, template.UID)
    else:
        with stage("user namespace"):
            uid, gid = settings["owner"]
            namespaces.write_maps("self", [(template.UID, uid, 1)], [(template.UID, gid, 1)], deny_setgroups=True)
        template.build(settings, mountpoint)
    prctl.set_dumpable(False)


class Zygote:
    """Forks an init for each cell that the keeper asks for, and notices when one ends badly."""

    def __init__(
        self, keeper: socket.socket, lifeline: int, settings: Packet, lock: lockdown.Lock | None, base: str
    ) -> None:
        self._keeper, self._lifeline, self._settings, self._lock, self._base = keeper, lifeline, settings, lock, base
        self._inits: dict[int, int] = {}

    def preload(self) -> None:
        """Import what the operator named, once for all cells."""
        if self._settings["walls"]:
            os.environ.update(HOME="/tmp", TMPDIR="/tmp")
        for name in self._settings["preload"]:
            try:
                importlib.import_module(name)
            except Exception as error:
                raise StageError("preload", None, f"preload of {name!r} failed: {error}") from error
        gc.disable()  # until the worker; a collection writes to what it looks at
        self._rehearse(1)
        send_packet(self._keeper, {"ready": 1})

    def _rehearse(self, times: int) -> None:
        """Nothing is to be done for the first time in a cell; what there is now is never looked at by a collection."""
        rehearse("/tmp" if self._settings["walls"] else self._base, times)
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        """Until the keeper is gone."""
        rehearsed = False
        while True:
            poll = select.poll()
            poll.register(self._keeper.fileno(), select.POLLIN)
            for handle in self._inits:
                poll.register(handle, select.POLLIN)
            ready = poll.poll(None if rehearsed else _IDLE)
            if not ready:
                self._rehearse(_REHEARSALS)  # not sooner: somebody may be waiting for the first cell
                rehearsed = True
            for fd, _ in ready:
                if fd in self._inits:
                    self._bury(fd)
                    continue
                heard = receive_packet(self._keeper)
                if heard is None:
                    return
                self._fork(heard[0], Ends(*heard[1]))

    def close(self) -> None:
        """The inits have seen the end of the lifeline too: wait until they have ended their cells."""
        for handle in list(self._inits):
            poll = select.poll()
            poll.register(handle, select.POLLIN)
            if poll.poll(6000):
                self._bury(handle)
        end_strays()

    def _bury(self, handle: int) -> None:
        status = os.waitpid(self._inits.pop(handle), 0)[1]
        os.close(handle)
        if status != 0:  # killed before it had ended its cell: what was in the cell is ours now
            end_strays(keep=set(self._inits.values()))

    def _fork(self, packet: Packet, own: Ends) -> None:
        inside = cell.Inside(
            **own._asdict(),
            lifeline=self._lifeline,
            root=packet["root"],
            base_environment=self._settings["env"],
            walls=self._settings["walls"],
            lock=self._lock,
            hurry=packet["hurry"],
        )
        pid = self._fork_walled(inside, packet["uid"]) if inside.walls else self._fork_plain(inside)
        own.close()
        handle = os.pidfd_open(pid)
        self._inits[handle] = pid
        send_packet(self._keeper, {"cell": packet["fork"]}, (handle,))

    def _fork_plain(self, inside: cell.Inside) -> int:
        pid = os.fork()
        if pid == 0:
            cell.main(inside)
        return pid

    def _fork_walled(self, inside: cell.Inside, uid: int) -> int:
        """Fork an init as PID 1 of namespaces of its own, and say who its user is outside of them."""
        assert inside.walls is not None
        mapped, tell = os.pipe()
        prctl.set_dumpable(True)  # the maps of a process that is not belong to the root of the host
        try:
            pid = namespaces.fork_into(walls.namespaces_of(inside.walls), hooks=False)
            if pid == 0:
                cell.main(inside._replace(mapped=mapped))
        finally:
            prctl.set_dumpable(False)
        os.close(mapped)
        try:
            users = [(template.UID, uid, 1)]
            namespaces.write_maps(pid, users, users, deny_setgroups=True)
            os.write(tell, b"1")
        except OSError as error:
            print(f"belljar: maps of a cell: {error}", file=sys.stderr, flush=True)
        finally:
            os.close(tell)
        return pid
