"""Use the kernel's keyrings, which know nothing of our namespaces."""

TITLE = "Use keyrings"
MUST_NOT = "No key can be added, read or asked for."
SEVERITY = "high"
LAYER = "syscalls"

from kit import BAD, end, reaches

reaches("keyctl", 0, -3, 0, 0, 0)  # GET_KEYRING_ID of the session
reaches("keyctl", 0, -4, 1, 0, 0)  # of the user
reaches("keyctl", 0 | (1 << 32), -5, 1, 0, 0)
reaches("add_key", BAD, BAD, 0, 0, -2)
reaches("request_key", BAD, BAD, 0, -2)
end()
