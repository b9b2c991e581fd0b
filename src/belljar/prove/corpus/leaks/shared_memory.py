"""Attach to System V segments of the host, and ask which there are."""

TITLE = "Attach to segments of the host"
MUST_NOT = "No segment of the host is seen."
SEVERITY = "critical"
LAYER = "ipc"

import ctypes

from kit import attempt, broken, call, end, libc, say, told

libc.shmat.restype = ctypes.c_void_p


def attach(number):
    address = libc.shmat(number, None, 0o10000)
    if address not in (None, ctypes.c_void_p(-1).value):
        say("FOUND", ctypes.string_at(address, 64).split(b"\0")[0].decode("latin-1"))


number = attempt("by its key", call, "shmget", told["sysv"], 0, 0)
if number is not None:
    attach(number)
info = (ctypes.c_long * 16)()
for name, command in (("shmctl", 14),):  # SHM_INFO: the highest index in use, and how many there are
    libc.shmctl(0, command, info)
    if ctypes.cast(info, ctypes.POINTER(ctypes.c_int))[0]:
        broken("there are segments")
end("there are none")
