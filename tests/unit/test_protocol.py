"""Claims are cut from a stream that nobody vouches for; packets bring their descriptors, and no more."""

import contextlib
import fcntl
import gc
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belljar.zygote.protocol import DEEPEST_CLAIM, LONGEST_CLAIM, Claims, depth, receive_packet, send_packet

NONCE = "0123456789abcdef"
floats = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def framed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def claim(kind: str, content: object, nonce: str = NONCE) -> bytes:
    return framed(json.dumps({"n": nonce, kind: content}, separators=(",", ":")).encode())


def nested(levels: int) -> bytes:
    return framed(b'{"n":"%s","answer":%s}' % (NONCE.encode(), b"[" * levels + b"]" * levels))


def fed(data: bytes, *cuts: int) -> tuple[list[dict[str, Any]], int]:
    claims, heard, at = Claims(NONCE), [], 0
    for cut in (*sorted(cuts), len(data)):
        heard += claims.feed(data[at:cut])
        at = cut
    return heard, claims.dropped


GOOD = claim("started", True) + claim("answer", {"value": [1, "é"]}) + framed(b"junk") + claim("answer", {})


@settings(deadline=None)
@given(st.lists(st.integers(0, len(GOOD)), max_size=6))
def test_any_split_gives_the_same_claims(cuts: list[int]) -> None:
    assert fed(GOOD, *cuts) == ([{"started": True}, {"answer": {"value": [1, "é"]}}, {"answer": {}}], 1)


def test_byte_by_byte() -> None:
    assert fed(GOOD, *range(len(GOOD))) == fed(GOOD)


@settings(deadline=None)
@given(json_values)
def test_content_comes_as_it_was_sent(content: object) -> None:
    assert fed(claim("answer", content)) == ([{"answer": json.loads(json.dumps(content))}], 0)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(claim("answer", 1, "wrong"), id="wrong nonce"),
        pytest.param(framed(b'{"answer": 1}'), id="no nonce"),
        pytest.param(framed(b'{"n": null, "answer": 1}'), id="null nonce"),
        pytest.param(framed(b'{"n": "x", "n":"%s", "answer": 1}' % NONCE.encode()), id="first nonce wrong"),
        pytest.param(framed(b'{"answer": 1, "n":"%s"}' % NONCE.encode()), id="nonce not first"),
        pytest.param(framed(b'{ "n":"%s","answer":1}' % NONCE.encode()), id="a space before the nonce"),
        pytest.param(framed(b'{"n": ["%s"], "answer": 1}' % NONCE.encode()), id="nonce in a list"),
        pytest.param(framed(b'{"n":"%s","n": "x", "answer": 1}' % NONCE.encode()), id="second nonce wrong"),
        pytest.param(framed(b""), id="empty"),
        pytest.param(framed(b"{"), id="cut"),
        pytest.param(framed(b"\xff\xfe\xff"), id="not text"),
        pytest.param(framed(b'{"n":"%s","answer": "\xff"}' % NONCE.encode()), id="not UTF-8"),
        pytest.param(framed(json.dumps([NONCE]).encode()), id="a list"),
        pytest.param(framed(json.dumps(NONCE).encode()), id="a string"),
        pytest.param(framed(b"null"), id="null"),
        pytest.param(framed(b'{"n":"%s","answer": NaN}' % NONCE.encode()), id="NaN"),
        pytest.param(framed(b'{"n":"%s","answer": [%s]}' % (NONCE.encode(), b"[],{}," * 300_000)), id="many lists"),
        pytest.param(framed(b'{"n":"%s","answer": [%s]}' % (NONCE.encode(), b"1," * 2_000_000)), id="many items"),
        pytest.param(framed(b'{"n":"%s","answer": -Infinity}' % NONCE.encode()), id="infinity"),
        pytest.param(framed(b'{"n":"%s","answer": %s}' % (NONCE.encode(), b"9" * 5000)), id="a huge int"),
        pytest.param(nested(DEEPEST_CLAIM + 1), id="too deep"),
        pytest.param(nested(100_000), id="deeper than the stack"),
        pytest.param(framed(b'{"n":"%s","answer": 1e999}' % NONCE.encode()), id="a float beyond all"),
    ],
)
def test_a_bad_frame_is_dropped_and_counted(frame: bytes) -> None:
    """What follows it is heard all the same."""
    assert fed(frame + claim("answer", 7)) == ([{"answer": 7}], 1)


@pytest.mark.parametrize(
    ("frame", "content"),
    [
        (nested(DEEPEST_CLAIM - 2), None),
        (framed(b'{"n":"%s","answer": 1, "answer": 2}' % NONCE.encode()), 2),
        (framed(b'{"n":"%s","answer": %s}' % (NONCE.encode(), b"9" * 4300)), int("9" * 4300)),
        (framed(b'{"n":"%s","answer": "%s"}' % (NONCE.encode(), b"[" * 999)), "[" * 999),
        (framed(b'{"n":"%s","answer": "%s"}' % (NONCE.encode(), b"[," * 2_100_000)), "[," * 2_100_000),
    ],
)
def test_a_strange_frame_is_heard(frame: bytes, content: object) -> None:
    heard, dropped = fed(frame)
    assert (len(heard), dropped) == (1, 0)
    assert content is None or heard[0]["answer"] == content


def test_nothing_behind_a_false_length_is_believed() -> None:
    claims = Claims(NONCE)
    assert claims.feed(claim("started", True) + struct.pack(">I", LONGEST_CLAIM + 1)) == [{"started": True}]
    assert claims.feed(claim("answer", 1)) == []
    assert claims.dropped == 1
    assert claims._buffer == b""


def test_the_longest_claim_is_heard() -> None:
    empty = len(claim("answer", "")) - 4
    assert len(fed(claim("answer", "x" * (LONGEST_CLAIM - empty)))[0]) == 1


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40) | st.just(claim("answer", 1)) | st.binary(max_size=30).map(framed), max_size=8))
def test_arbitrary_bytes_never_raise(chunks: list[bytes]) -> None:
    claims = Claims(NONCE)
    for chunk in chunks:
        for heard in claims.feed(chunk):
            assert isinstance(heard, dict)
            assert "n" not in heard


@settings(deadline=None)
@given(json_values)
def test_any_json_in_a_frame_never_raises(content: object) -> None:
    data = json.dumps(content).encode()
    heard, dropped = fed(framed(data))
    assert (heard, dropped) == ([], 1)


@pytest.mark.parametrize(
    ("value", "levels"),
    [(1, 0), ("[[", 0), ([1], 1), ({"a": 1}, 1), ([[1]], 2), ({"a": [{"b": 1}]}, 3), ([1, [2, [3]], [4]], 3)],
)
def test_depth(value: object, levels: int) -> None:
    assert depth(value) == levels


@settings(deadline=None)
@given(json_values)
def test_depth_is_what_recursion_says(value: Any) -> None:
    def deep(item: Any) -> int:
        inner = list(item.values()) if isinstance(item, dict) else item if isinstance(item, list) else None
        return 1 + max(map(deep, inner)) if inner else 0

    assert depth(value) == deep(value)


@contextlib.contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other:
        yield one, other


def open_descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_packets_come_whole_and_apart(packet: dict[str, Any]) -> None:
    with pair() as (one, other):
        send_packet(one, packet)
        send_packet(one, {"second": 2})
        assert receive_packet(other) == (packet, [])
        assert receive_packet(other) == ({"second": 2}, [])


@pytest.mark.parametrize("count", [1, 5, 8])
def test_descriptors_come_close_on_exec(count: int) -> None:
    before = open_descriptors()
    pipes = [os.pipe() for _ in range(count)]
    with pair() as (one, other):
        send_packet(one, {"a": 1}, tuple(outlet for outlet, _ in pipes))
        heard = receive_packet(other)
        assert heard is not None
        assert heard[0] == {"a": 1}
        assert len(heard[1]) == count
        for fd, (_, inlet) in zip(heard[1], pipes, strict=True):
            assert fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
            os.write(inlet, b"x")
            assert os.read(fd, 1) == b"x"
            os.close(fd)
    for outlet, inlet in pipes:
        os.close(outlet)
        os.close(inlet)
    assert open_descriptors() == before


def test_a_peer_that_left() -> None:
    with pair() as (one, other):
        one.close()
        assert receive_packet(other) is None
        with pytest.raises(BrokenPipeError):
            send_packet(other, {"a": 1})


def test_what_a_peer_said_before_it_reset_the_connection_is_heard() -> None:
    with pair() as (one, other):
        send_packet(other, {"unread": 1})
        send_packet(one, {"last": "word"})
        one.close()
        with pytest.raises(ConnectionResetError):
            other.recv(1, socket.MSG_PEEK)  # the trap is real here; and from now on it is said again no more
        assert receive_packet(other) == ({"last": "word"}, [])
    with pair() as (one, other):
        send_packet(other, {"unread": 1})
        send_packet(one, {"last": "word"})
        one.close()
        assert receive_packet(other) == ({"last": "word"}, [])
        assert receive_packet(other) is None


def test_nothing_to_receive_yet() -> None:
    with pair() as (_, other), pytest.raises(BlockingIOError):
        receive_packet(other, socket.MSG_DONTWAIT)
