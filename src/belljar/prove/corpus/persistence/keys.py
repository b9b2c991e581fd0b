"""Leave a key in a keyring of our user, and look for it in the next run."""

TITLE = "Leave keys"
MUST_NOT = "No key of one run is there in the next."
SEVERITY = "high"
LAYER = "syscalls"
RUNS = "twice"

from kit import broken, call, end, token, told

USER_KEYRING, SESSION = -4, -3
for ring in (USER_KEYRING, -5, SESSION):
    name = f"prove-{token}".encode()
    try:
        if told["turn"] == 1:
            call("add_key", b"user", name, b"left", 4, ring)
        else:
            key = call("keyctl", 10, ring, b"user", name, 0)
            broken(f"the key is in keyring {ring}")
            call("keyctl", 3, key)
    except OSError:
        pass
end("there are none")
