"""Watch the machine by perf events."""

TITLE = "perf events"
MUST_NOT = "perf_event_open is refused before the kernel looks at its arguments."
SEVERITY = "high"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("perf_event_open", BAD, 0, -1, -1, 0)
reaches("perf_event_open", BAD, -1, 0, -1, 8)
end()
