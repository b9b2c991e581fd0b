"""The users that cells are on the host when root starts them: one for each that lives, and nobody else's."""

import errno
import os
import socket
from collections import deque

from belljar.linux.userids import BLOCK, blocks


class Users:
    """A block of user ids. Holding it is holding an abstract socket, which the kernel frees when we die."""

    def __init__(self) -> None:
        self._claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.base = self._claim_block()
        self._free = deque(range(1, BLOCK))  # the first is the zygote's own

    def take(self) -> int:
        """A user that no living cell has, as an offset into the block."""
        return self._free.popleft()

    def give_back(self, offset: int) -> None:
        """The cell is over. Its user comes again as late as possible."""
        self._free.append(offset)

    def _claim_block(self) -> int:
        for base in blocks():
            try:
                self._claim.bind(f"\0belljar-users-{base}")
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return base
        raise OSError(errno.EUSERS, os.strerror(errno.EUSERS), "no block of user ids is free")
