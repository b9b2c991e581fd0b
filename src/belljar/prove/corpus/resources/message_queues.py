"""Fill POSIX and System V message queues, which keep their content in the kernel."""

TITLE = "Fill message queues"
MUST_NOT = "Message queues are bounded."
SEVERITY = "medium"
LAYER = "ipc"

import ctypes

from kit import broken, call, end, libc

total, queues = 0, []
for index in range(32):
    try:
        queues.append(call("msgget", 0, 0o1600))
    except OSError:
        break
    message = ctypes.create_string_buffer(8 + 8192)
    ctypes.c_long.from_buffer(message).value = 1
    try:
        for _ in range(64):
            call("msgsnd", queues[-1], ctypes.byref(message), 8192, 0o4000)
            total += 8192
    except OSError:
        pass
for index in range(64):
    attributes = (ctypes.c_long * 8)(0, 10, 8192)
    try:
        fd = call("mq_open", f"q{index}".encode(), 0o102, 0o600, ctypes.byref(attributes))
        for _ in range(10):
            call("mq_timedsend", fd, ctypes.c_char_p(b"x" * 8192), 8192, 0, None)
            total += 8192
    except OSError:
        break
for queue in queues:
    libc.msgctl(queue, 0, None)
if total > 32 << 20:
    broken(f"{total >> 20} MB in queues")
end(f"{total >> 10} KB in queues")
