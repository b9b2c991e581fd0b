"""Enter the kernel by the 32-bit door, where calls have other numbers, with machine code of our own."""

TITLE = "Calls by int 0x80"
MUST_NOT = "No call of the 32-bit table is served."
SEVERITY = "high"
LAYER = "syscalls"
MACHINE = "x86_64"
JUDGE = "expected"
EXPECT = ["crashed"]

import ctypes
import errno
import mmap

from kit import broken, end, libc, note

# push rbx; mov eax, edi; mov ebx, esi; xor ecx, ecx; xor edx, edx; int 0x80; pop rbx; ret
CODE = bytes.fromhex("53 89f8 89f3 31c9 31d2 cd80 5b c3".replace(" ", ""))
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
where = libc.mmap(
    None, 4096, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0
)
ctypes.memmove(where, CODE, len(CODE))
enter = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)(where)
# getpid, umask(022), unshare(CLONE_NEWUTS) by their numbers there.
for name, number, argument in (("getpid", 20, 0), ("getuid", 24, 0), ("unshare", 310, 0x4000000), ("bpf", 357, 0)):
    result = enter(number, argument)
    if result == -errno.ENOSYS:
        continue
    if result >= 0 or name in ("getpid", "getuid"):
        broken(f"{name}: {result}")
    else:
        note(f"{name}: {result}")
        broken(f"{name} was looked at: {errno.errorcode.get(-result, result)}")
end("ENOSYS")
