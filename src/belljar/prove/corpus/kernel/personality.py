"""Change the personality: no address randomisation, readable means executable, page zero mapped."""

TITLE = "Change the personality"
MUST_NOT = "The personality can only be asked for."
SEVERITY = "medium"
LAYER = "syscalls"

from kit import end, in_child, reaches


def change():
    for flag in (0x0040000, 0x0400000, 0x0100000, 0x0000008, 0x0040000 | (1 << 32), 0x1FFFFFFFF - 1):
        reaches("personality", flag)


in_child(change)
end()
