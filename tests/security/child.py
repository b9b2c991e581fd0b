"""Runs code in an interpreter of its own: what these tests do to a process cannot be undone."""

import os
import subprocess
import sys
import textwrap

import pytest
from tests.needs import no_ordinary_python

ORDINARY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
SEALED = """
from belljar.linux import capabilities, identity, mounts, namespaces, prctl, seccomp
from belljar.linux.namespaces import Namespace
import os

PROGRAM = seccomp.load("cell")  # now: as another user it may be out of reach

def wait(pid):
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, status

def seal():
    prctl.no_new_privs()
    seccomp.install(PROGRAM)
"""


def python(code: str, *, ordinary: bool = False, timeout: float = 60, cwd: str = "/") -> str:
    """What `code` prints; its own AssertionError or exception fails the test. `ordinary`: not as root, if we are."""
    prefix = ORDINARY if ordinary and os.geteuid() == 0 else ()
    if prefix and (reason := no_ordinary_python()):
        pytest.skip(reason)
    text = SEALED + textwrap.dedent(code)
    environment = {"PATH": os.environ["PATH"], "HOME": cwd, "TMPDIR": cwd if cwd != "/" else "/tmp"}
    done = subprocess.run(
        [*prefix, sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=cwd,
        env=environment,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
