"""The guest's end of its socket: the program comes in, claims go out.

The program is 4 bytes of length (big endian) and a JSON object, then raw bytes: the source, and each input file.

    n           the nonce that every claim must carry
    kind        "run", "call" or "execute"
    filename    what tracebacks call the source
    source      its length in bytes
    files       [[name, length, mode], ...] to be written below the working directory
    args, env   of the program; env is added to the base environment
    rlimits     {name: value}, hard and soft
    cpus        how many processors the program may use and see, null for all
    stdin       true when a descriptor to read it from comes beside the first byte
    call        {function, kwargs, init} of a call
    steps       the command lines of "execute"
"""

import array
import json
import os
import re
import signal
import socket
import struct
from typing import Any

_LENGTH = struct.Struct(">I")
_BLOCK = 1 << 18
# Made once, before there is a program: see zygote/protocol.py.
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode
LONGEST_CLAIM = 16 << 20
MOST_CONTAINERS, MOST_ITEMS = 500_000, 2_000_000  # lists and objects of a claim; what they hold
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def is_too_large(data: bytes) -> bool:
    """Whether a claim would take the host much more memory than it is long: an empty list of 3 bytes takes 64."""
    if _containers(data) <= MOST_CONTAINERS and data.count(b",") <= MOST_ITEMS:
        return False
    bare = _STRING.sub(b"", data)
    return _containers(bare) > MOST_CONTAINERS or bare.count(b",") > MOST_ITEMS


def _containers(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{")


class TooLongError(Exception):
    """A claim is longer than the host would take."""


class Channel:
    """One program in, claims out, by the process that was born with it and no child of it."""

    def __init__(self, fd: int) -> None:
        self._socket = socket.socket(fileno=fd)
        self._owner = os.getpid()
        self._nonce = ""
        self._rest = b""

    def close(self) -> None:
        """Close our end."""
        self._socket.close()

    def receive(self) -> tuple[dict[str, Any], int | None]:
        """The header of the program, and the descriptor of its stdin. EOFError when the host has left."""
        data, ancillary, _, _ = self._socket.recvmsg(_BLOCK, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC)
        self._rest = data
        stdin = None
        for _, kind, rights in ancillary:
            if kind == socket.SCM_RIGHTS:
                stdin = array.array("i", rights)[0]
        (length,) = _LENGTH.unpack(self.read(_LENGTH.size))
        header: dict[str, Any] = _decode(self.read(length).decode())
        self._nonce = header["n"]
        return header, stdin

    def read(self, length: int) -> bytes:
        """Exactly `length` bytes of what follows the header."""
        parts = []
        while length:
            part = self.read_some(length)
            parts.append(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_some(self, most: int) -> bytes:
        """Between 1 and `most` bytes of what follows the header."""
        if not self._rest:
            self._rest = self._socket.recv(_BLOCK)
            if not self._rest:
                raise EOFError("the host has left")
        part, self._rest = self._rest[:most], self._rest[most:]
        return part

    def claim(self, kind: str, content: Any) -> None:
        """Tell the host something. A forked child of the program has nothing to say here."""
        if os.getpid() != self._owner:
            return
        data = _encode({"n": self._nonce, kind: content}).encode()
        if len(data) > LONGEST_CLAIM:
            raise TooLongError(f"{len(data)} bytes are more than the {LONGEST_CLAIM} that an answer may have")
        if is_too_large(data):
            raise TooLongError(f"an answer has up to {MOST_CONTAINERS} lists and objects with {MOST_ITEMS} items")
        # A SIGINT in the middle of a frame would leave half of it behind.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._socket.sendall(_LENGTH.pack(len(data)) + data, socket.MSG_NOSIGNAL)
        except OSError:
            pass  # the host listens no more, or the program has closed the descriptor: its own loss
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
