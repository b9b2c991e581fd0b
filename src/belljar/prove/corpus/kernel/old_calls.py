"""Try calls that nobody needs any more, and calls that watch the whole system."""

TITLE = "Old calls and watchers"
MUST_NOT = "They are refused."
SEVERITY = "medium"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("fanotify_init", 0, 0)
reaches("fanotify_mark", -1, 1, 0, 0, BAD)
reaches("lookup_dcookie", 0, BAD, 0)
reaches("nfsservctl", 0, 0, 0)
reaches("uselib", BAD)
reaches("ustat", 0, BAD)
reaches("sysfs", 3, 0, 0)
reaches("move_pages", 1, 1, 0, 0, 0, 0)
reaches("migrate_pages", 1, 0, 0, 0)
reaches("process_madvise", -1, 0, 0, 0, 0)
end()
