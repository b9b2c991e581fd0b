"""Landlock, for real."""

from pathlib import Path

import pytest
from tests.needs import need
from tests.security.child import python


@pytest.mark.parametrize("ordinary", [False, True], ids=["as-is", "ordinary"])
def test_only_what_was_allowed(ordinary: bool, folder: Path) -> None:
    need("landlock")
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    (folder / "secret").write_text("x")
    python(
        f"""
        import socket
        from belljar.linux.landlock import *
        from belljar.linux.landlock import abi
        version = abi()
        def refused(call, *args):
            try:
                call(*args)
            except PermissionError:
                return True
            return False
        open({str(folder / "secret")!r}).close()
        listening = socket.socket(); listening.bind(("127.0.0.1", 0)); listening.listen()
        port = listening.getsockname()[1]
        with Ruleset(fs_rights(version), net_rights(version), scopes(version)) as rules:
            fd = os.open({str(folder / "open")!r}, os.O_PATH | os.O_CLOEXEC)
            rules.allow_path(fd, fs_rights(version))
            if net_rights(version):
                rules.allow_port(port, AccessNet.CONNECT_TCP)
            prctl.no_new_privs()
            rules.restrict_self()
        assert rules.fd == -1
        assert refused(open, {str(folder / "secret")!r})
        assert refused(os.listdir, "/")
        with open({str(folder / "open" / "new")!r}, "w") as file:
            file.write("x")
        if net_rights(version):
            socket.socket().connect(("127.0.0.1", port))
            assert refused(socket.socket().connect, ("127.0.0.1", port + 1))
            assert refused(socket.socket().bind, ("127.0.0.1", 0))
        if scopes(version):
            assert refused(os.kill, os.getppid(), 0)
        """,
        ordinary=ordinary,
    )


def test_unknown_rights_are_refused() -> None:
    need("landlock")
    python(
        """
        from belljar.linux.landlock import Ruleset
        try:
            Ruleset(1 << 60)
        except OSError as error:
            assert (error.errno, error.filename) == (22, "landlock_create_ruleset")
        else:
            raise AssertionError("it must fail")
        """
    )
