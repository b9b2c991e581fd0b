"""Answer, with the right nonce, in JSON that is deep, large, doubled, not finite, or not text at all."""

TITLE = "Answers of bad JSON"
MUST_NOT = "The host survives each, and the outcome is its own word."
SEVERITY = "high"
JUDGE = "outcome_is_ours"
EXPECT = ["failed"]

import os
import struct
import sys

from kit import say

say("TRIED")
frame = sys._getframe()
while frame and "channel" not in frame.f_locals:
    frame = frame.f_back
if frame:
    channel = frame.f_locals["channel"]
    head = b'{"n":"' + channel._nonce.encode() + b'","answer":'
    for body in (
        b"[" * 50000 + b"]" * 50000,
        b'{"a":' * 50000 + b"1" + b"}" * 50000,
        b'{"value":' + b"9" * 5000 + b"}",
        b'{"value":NaN}',
        b'{"value":1e999}',
        b'{"value":"\\ud800"}',
        b'{"value":1,"value":{"value":2}}',
        b'"\xff\xfe"',
        b"",
        b"null",
        b"[]",
        b'{"error":5,"value":{}}',
        b'{"error":{"type":[],"message":{}},"displays":7}',
        b'{"displays":[[],{"data":5},{"data":{"a":{}}}]}',
        b'{"error":{"type":"T","message":"m","traceback":3,"line":"x"}}',
    ):
        data = head + body + b"}"
        channel._socket.sendall(struct.pack(">I", len(data)) + data)
    channel._socket.sendall(struct.pack(">I", 0) + struct.pack(">I", 1) + b"x" + struct.pack(">I", 40) + b"cut off")
os._exit(6)
