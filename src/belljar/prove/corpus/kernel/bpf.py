"""Load programs into the kernel by bpf(2)."""

TITLE = "bpf"
MUST_NOT = "bpf is refused before the kernel looks at its arguments."
SEVERITY = "high"
LAYER = "syscalls"

from kit import BAD, end, reaches

for command in (0, 5, 18, 28, 36):
    reaches("bpf", command, BAD, 16)
end()
