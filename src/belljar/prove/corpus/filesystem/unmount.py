"""Take away what was mounted over something else, to see what is below."""

TITLE = "Unmount to reveal"
MUST_NOT = "Nothing can be unmounted."
SEVERITY = "critical"
LAYER = "syscalls"

from kit import end, reaches

MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
# None of them is a mount point, so nothing goes even where it is allowed: the kernel says EINVAL then.
for path in (b"/proc/self", b"/usr/bin", b"/dev/fd"):
    reaches("umount2", path, 0)
    reaches("umount2", path, MNT_DETACH)
    reaches("umount2", path, UMOUNT_NOFOLLOW)
end()
