"""What the processes say to each other, frame by frame.

Packets (SOCK_SEQPACKET, one JSON object each, descriptors beside it):

    caller -> keeper    {"hello": {...}}              once: what to preload, how many to park, the base environment
                        {"take": 1}                   one cell is wanted
                        {"untake": 1}                 whoever wanted it has left
                        {"release": CELL}             the cell is over and read out: remove what it left
    keeper -> caller    {"cell": CELL, "root": DIR}   + guest, init, stdout, stderr, workspace
                        {"failed": STAGE, "errno": N, "text": ...}   instead of a cell
    zygote -> keeper    {"map": 1}                    it is in a user namespace, whose users are to be given to it
                        {"ready": 1}                  preload is done
                        {"cell": CELL}                + the init's pidfd
                        {"failed": ...}               in place of either
    keeper -> zygote    {"mapped": 1}
                        {"fork": CELL, "root": DIR, "hurry": BOOL, "uid": N}   in a hurry: no rehearsal
                                                      + the cell's ends of guest, init, stdout, stderr
    init -> keeper      {"forked": 1}                 there is a worker, which waits; answered by {"on": 1}
                        {"ready": FACTS}              + workspace; from here on the init's socket is the caller's
                        {"failed": STAGE, "errno": N, "text": ...}   a stage of the launch went wrong
    caller -> init      {"go": {memory, processes, cpu, wall, disk, files}}   the limits of the run that starts now
                        {"signal": N}                 interrupt the worker
                        {"measure": 1}                say what is used now
                        {"kill": 1}                   end it all
    init -> caller      {"measured": {memory, processes, cpu}}
                        {"sized": 1}                  disk and files were others than those of the parked cell
                        {"exit": {...}}               everything is dead: the facts (see `cell.py`)

Stream of the guest socket:

    caller -> worker    4 bytes length, the program as JSON, then source and input files as raw bytes; stdin's
                        descriptor beside the first byte (see `guest/channel.py`)
    worker -> caller    4 bytes length, then {"n":NONCE,KIND:...}, in this order and without spaces at the beginning:
                        started    the next thing is user code
                        rejected   it did not compile: {error}
                        answer     {value?, displays, error?}
    These are claims of the code. `rejected` is believed only before `started`.
"""

import array
import json
import socket
import struct
from typing import Any

from belljar.guest.channel import is_too_large

Packet = dict[str, Any]

PACKET_LIMIT = 65536
LONGEST_CLAIM = 16 << 20
DEEPEST_CLAIM = 200
_DESCRIPTORS = 8
_LENGTH = struct.Struct(">I")
# Made once: json.dumps makes an encoder each time it is given options, json.loads looks for the encoding.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def send_packet(sock: socket.socket, packet: Packet, descriptors: tuple[int, ...] = ()) -> None:
    """Send one packet whole, or raise OSError. A peer that is gone never raises SIGPIPE."""
    data = _encode(packet).encode()
    if descriptors:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        sock.sendmsg([data], rights, socket.MSG_NOSIGNAL)
    else:
        sock.send(data, socket.MSG_NOSIGNAL)


def receive_packet(sock: socket.socket, flags: int = 0) -> tuple[Packet, list[int]] | None:
    """The next packet and its descriptors (close-on-exec), None when the peer is gone."""
    room = socket.CMSG_SPACE(4 * _DESCRIPTORS)
    try:
        data, ancillary, _, _ = sock.recvmsg(PACKET_LIMIT, room, socket.MSG_CMSG_CLOEXEC | flags)
    except ConnectionResetError:
        # The peer went with something of ours unread. That is said once, and before what it has sent us itself.
        data, ancillary, _, _ = sock.recvmsg(PACKET_LIMIT, room, socket.MSG_CMSG_CLOEXEC | flags)
    if not data:
        return None
    descriptors = array.array("i")
    for _, kind, rights in ancillary:
        if kind == socket.SCM_RIGHTS:
            descriptors.frombytes(rights[: len(rights) - len(rights) % 4])
    return _decode(data.decode()), list(descriptors)


class Claims:
    """Cuts the stream of the guest into claims; drops and counts what breaks the rules."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._prefix = f'{{"n":"{nonce}",'.encode()
        self._buffer = bytearray()
        self._broken = False
        self.dropped = 0

    def feed(self, data: bytes) -> list[Packet]:
        """The claims that `data` completes."""
        if self._broken:
            return []
        self._buffer += data
        claims = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > LONGEST_CLAIM:
                self._broken = True  # nothing behind a false length can be trusted to be a frame
                self.dropped += 1
                self._buffer.clear()
                break
            if len(self._buffer) < _LENGTH.size + length:
                break
            claim = self._parse(bytes(self._buffer[_LENGTH.size : _LENGTH.size + length]))
            del self._buffer[: _LENGTH.size + length]
            if claim is None:
                self.dropped += 1
            else:
                claims.append(claim)
        return claims

    def _parse(self, data: bytes) -> Packet | None:
        # Before it is parsed: who does not know the nonce costs us nothing.
        if not data.startswith(self._prefix) or is_too_large(data):
            return None
        try:
            claim = json.loads(data, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError):
            return None
        if not isinstance(claim, dict) or claim.pop("n", None) != self._nonce:
            return None
        if data.count(b"[") + data.count(b"{") > DEEPEST_CLAIM and depth(claim) > DEEPEST_CLAIM:
            return None
        return claim


def depth(value: Any) -> int:
    """How deep lists and dictionaries are nested in `value`."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        level = [
            child
            for item in level
            if isinstance(item, list | dict)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return deepest - 1


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is not a number that JSON can say")
    return number


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
