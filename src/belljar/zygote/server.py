"""The zygote: imports once, freezes, and forks cells. It runs no user code and sees none."""

import gc
import importlib
import os
import select
import socket
import sys
from typing import NoReturn

from belljar.guest import worker
from belljar.linux import prctl
from belljar.linux.reaper import end_strays
from belljar.zygote import cell
from belljar.zygote.protocol import Packet, receive_packet, send_packet
from belljar.zygote.stages import StageError


def main(keeper: socket.socket, lifeline: int, settings: Packet) -> NoReturn:
    """Serve the keeper until it is gone, then see every cell out."""
    prctl.adopt_orphans()
    zygote = Zygote(keeper, lifeline, settings)
    try:
        zygote.preload()
        zygote.serve()
    except StageError as error:
        print(error.text, file=sys.stderr, flush=True)
        os._exit(1)
    zygote.close()
    os._exit(0)


class Zygote:
    """Forks an init for each cell that the keeper asks for, and notices when one ends badly."""

    def __init__(self, keeper: socket.socket, lifeline: int, settings: Packet) -> None:
        self._keeper, self._lifeline, self._settings = keeper, lifeline, settings
        self._inits: dict[int, int] = {}

    def preload(self) -> None:
        """Import what the operator named, once for all cells."""
        for name in self._settings["preload"]:
            try:
                importlib.import_module(name)
            except ImportError as error:
                raise StageError("preload", None, f"preload of {name!r} failed: {error}") from error
        worker.warm_up()
        gc.collect()
        gc.freeze()
        send_packet(self._keeper, {"ready": 1})

    def serve(self) -> None:
        """Until the keeper is gone."""
        while True:
            poll = select.poll()
            poll.register(self._keeper.fileno(), select.POLLIN)
            for handle in self._inits:
                poll.register(handle, select.POLLIN)
            for fd, _ in poll.poll():
                if fd in self._inits:
                    self._bury(fd)
                    continue
                heard = receive_packet(self._keeper)
                if heard is None:
                    return
                self._fork(heard[0])

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

    def _fork(self, packet: Packet) -> None:
        guest, guest_inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        init, init_inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stdout, stdout_inside = os.pipe()
        stderr, stderr_inside = os.pipe()
        inside = cell.Inside(
            guest=guest_inside.fileno(),
            init=init_inside.fileno(),
            stdout=stdout_inside,
            stderr=stderr_inside,
            lifeline=self._lifeline,
            root=packet["root"],
            base_environment=self._settings["env"],
        )
        pid = os.fork()
        if pid == 0:
            cell.main(inside)
        self._inits[os.pidfd_open(pid)] = pid
        outside = (guest.fileno(), init.fileno(), stdout, stderr)
        send_packet(self._keeper, {"cell": packet["fork"], "pid": pid}, outside)
        for fd in (stdout, stdout_inside, stderr, stderr_inside):
            os.close(fd)
        for end in (guest, guest_inside, init, init_inside):
            end.close()
