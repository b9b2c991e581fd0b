"""Look whether programs with the setuid bit could still give rights, and try to go back."""

TITLE = "Gain by exec"
MUST_NOT = "no_new_privs is set, and nobody can take it back."
SEVERITY = "critical"
LAYER = "no_new_privs"

from kit import broken, end, libc, status

libc.prctl(38, 0, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS takes only 1
if libc.prctl(39, 0, 0, 0, 0) != 1 or status()["NoNewPrivs"] != "1":
    broken("no_new_privs is not set")
end("it is set")
