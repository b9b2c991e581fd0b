"""Take the kernel's memory: full pipes and socket buffers that nobody reads."""

TITLE = "Fill the kernel's buffers"
MUST_NOT = "Buffers of pipes and sockets are bounded."
SEVERITY = "medium"
KNOWN = "rootless"
LAYER = "memory"
JUDGE = "expected"
EXPECT = ["out_of_memory"]
LIMITS = {"memory": "80M", "open_files": 1024}

import fcntl
import os
import socket

from kit import broken, end

ENOUGH = 200 << 20
block, total, kept = b"x" * 65536, 0, []
try:
    while len(kept) < 150 and total < ENOUGH:
        reads, writes = os.pipe()
        kept += [reads, writes]
        try:
            fcntl.fcntl(writes, 1031, 1 << 20)  # F_SETPIPE_SZ
        except OSError:
            pass
        os.set_blocking(writes, False)
        try:
            while total < ENOUGH:
                total += os.write(writes, block)
        except BlockingIOError:
            pass
    while len(kept) < 500 and total < ENOUGH:
        pair = socket.socketpair()
        kept += pair
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
        pair[0].setblocking(False)
        try:
            while total < ENOUGH:
                total += pair[0].send(block)
        except BlockingIOError:
            pass
except (OSError, MemoryError) as error:
    end(error)
if total > 160 << 20:
    broken(f"{total >> 20} MB of buffers in a limit of 80 MB")
end(f"{total >> 20} MB of buffers")
