"""Undo the lock-down by prctl: its secure bits, its memory layout, the dumpable flag of others."""

TITLE = "Undo by prctl"
MUST_NOT = "Secure bits are locked, and the layout of the process cannot be forged."
SEVERITY = "medium"
LAYER = "capabilities"

from kit import attempt, broken, call, end, libc

attempt("PR_SET_SECUREBITS", call, "prctl", 28, 0, 0, 0, 0)
for option in (1, 8, 9, 13):
    attempt(f"PR_SET_MM {option}", call, "prctl", 35, option, 4096, 0, 0)
    attempt(f"PR_SET_MM {option}, high bits", call, "prctl", 35 | (1 << 32), option, 4096, 0, 0)
if libc.prctl(27, 0, 0, 0, 0) & 0b11 != 0b11:  # SECBIT_NOROOT and its lock
    broken("root would still be somebody")
end()
