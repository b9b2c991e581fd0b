"""Leave System V segments, semaphores and queues, and POSIX queues, and look for them in the next run."""

TITLE = "Leave shared memory and queues"
MUST_NOT = "Nothing of the kind outlives a run."
SEVERITY = "high"
LAYER = "ipc"
RUNS = "twice"

import ctypes

from kit import broken, call, end, libc, token, told

key = int(token[2:9], 16)
kinds = {"segment": ("shmget", key, 4096), "semaphore": ("semget", key, 1), "queue": ("msgget", key)}
for name, (function, *args) in kinds.items():
    flags = 0 if told["turn"] == 2 else 0o1600
    try:
        number = call(function, *args, flags)
    except OSError:
        continue
    if told["turn"] == 2:
        broken(f"the {name} is still there")
        remove = {
            "segment": lambda: libc.shmctl(number, 0, None),
            "semaphore": lambda: libc.semctl(number, 0, 0),
            "queue": lambda: libc.msgctl(number, 0, None),
        }
        remove[name]()
try:
    attributes = (ctypes.c_long * 8)(0, 2, 64)
    call("mq_open", token.encode(), 0o102 if told["turn"] == 1 else 2, 0o600, ctypes.byref(attributes))
    if told["turn"] == 2:
        broken("the POSIX queue is still there")
        libc.mq_unlink(b"/" + token.encode())
except OSError:
    pass
end("all is new")
