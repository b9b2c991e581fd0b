"""Type into the terminal that started us, and take it."""

TITLE = "Type into the terminal"
MUST_NOT = "There is no terminal, and nothing can be typed into one."
SEVERITY = "high"
LAYER = "syscalls"

import os

from kit import BAD, end, opens, reaches

TIOCSTI, TIOCLINUX, TIOCSCTTY = 0x5412, 0x541C, 0x540E
opens("/dev/tty", os.O_RDWR)
opens("/dev/console", os.O_RDWR)
for fd in (0, 1, 2):
    if os.isatty(fd):
        reaches("ioctl", fd, TIOCSCTTY, 1)
for extra in (0, 1 << 32, 0xDEAD << 32):
    for request in (TIOCSTI, TIOCLINUX):
        reaches("ioctl", 1, request | extra, BAD)
end()
