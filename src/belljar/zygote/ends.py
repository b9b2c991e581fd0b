"""The descriptors of a cell, in pairs. The keeper makes them: the zygote would pay with pages after each fork."""

import os
import socket
from typing import NamedTuple


class Ends(NamedTuple):
    """One side of all of them: the sockets of worker and init, and the two streams of output."""

    guest: int
    init: int
    stdout: int
    stderr: int

    def close(self) -> None:
        """Close our copies."""
        for fd in self:
            os.close(fd)


def make() -> tuple[Ends, Ends]:
    """The caller's side, and the cell's."""
    guest = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    init = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stdout, stderr = os.pipe(), os.pipe()
    for _, inlet in (stdout, stderr):
        os.fchmod(inlet, 0o666)  # /dev/stdout is opened anew, by the user of the cell, who did not make it
    return (
        Ends(guest[0].detach(), init[0].detach(), stdout[0], stderr[0]),
        Ends(guest[1].detach(), init[1].detach(), stdout[1], stderr[1]),
    )
