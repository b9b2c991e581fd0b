"""The corpus against real walls, and against none: it must hold there, and it must be able to fail here."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import belljar

SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = "65534"
SECONDS = 110
LEAST_THAT_GET_THROUGH = 20

# What gets through, and is known to. Each line is a debt: whoever pays it takes the line away.
# One after the other: over `local` the corpus takes what the kernel counts for the user who runs the tests.
pytestmark = pytest.mark.xdist_group("prove")

KNOWN = {"persistence/locks", "persistence/watching"}
KNOWN_WITHOUT_GROUPS = {"resources/memory_files", "resources/memory_sysv", "resources/memory_in_sockets"}

PROVE = """
import json
from belljar.prove.attacks import corpus
from belljar.prove.report import to_dict
from belljar.prove.runner import prove
print(json.dumps(to_dict(prove(corpus(), backend="namespace", workers=4))))
"""


def proof_of(command: list[str], **more: Any) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, **more)
    assert done.returncode in (0, 1), done.stderr
    proof: dict[str, Any] = json.loads(done.stdout)
    return proof


def named(proof: dict[str, Any], verdict: str) -> dict[str, str]:
    return {one["name"]: one["reason"] for one in proof["attacks"] if one["verdict"] == verdict}


@pytest.fixture
def public_source() -> Iterator[Path]:
    """A copy of the package where everybody can read it: ours may lie in somebody's home."""
    folder = Path(tempfile.mkdtemp(prefix="prove-source-"))
    folder.chmod(0o755)
    package = Path(belljar.__file__).parent
    shutil.copytree(package, folder / "belljar", ignore=shutil.ignore_patterns("__pycache__"))
    yield folder
    shutil.rmtree(folder)


def test_namespace_as_we_are(need: Callable[..., None]) -> None:
    need("root" if os.geteuid() == 0 else "userns")
    proof = proof_of([sys.executable, "-m", "belljar", "prove", "--json"])
    assert named(proof, "unclear") == named(proof, "broke") == {}
    assert proof["holds"]
    assert set(named(proof, "known")) <= (KNOWN if proof["level"] == "full" else KNOWN | KNOWN_WITHOUT_GROUPS)
    assert proof["damage"] == []


def test_namespace_as_nobody(need: Callable[..., None], public_source: Path) -> None:
    need("root", "userns")
    if not os.access(SYSTEM_PYTHON, os.X_OK) or not shutil.which("setpriv"):
        pytest.skip(f"needs setpriv and {SYSTEM_PYTHON}")
    new_enough = [SYSTEM_PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if subprocess.run(new_enough, check=False).returncode:
        pytest.skip(f"{SYSTEM_PYTHON} is older than 3.11")
    command = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", SYSTEM_PYTHON, "-B", "-c", PROVE]
    environment = {"PATH": os.defpath, "PYTHONPATH": str(public_source)}
    proof = proof_of(command, env=environment, cwd="/")
    assert named(proof, "unclear") == {}
    assert named(proof, "unclear") == named(proof, "broke") == {}
    assert set(named(proof, "known")) <= KNOWN | KNOWN_WITHOUT_GROUPS
    assert proof["damage"] == []


def test_without_walls_it_fails(need: Callable[..., None]) -> None:
    need("userns")
    before = set(os.listdir("/etc")), set(os.listdir(tempfile.gettempdir()))
    proof = proof_of([sys.executable, "-m", "belljar", "prove", "--backend", "local", "--json"])
    broke = named(proof, "broke")
    assert len(broke) >= LEAST_THAT_GET_THROUGH
    assert named(proof, "unclear") == {}
    assert not proof["holds"]
    # Of each category but forgery, where no wall is needed, something gets through.
    expected = {"filesystem", "network", "processes", "privileges", "kernel", "resources", "leaks", "persistence"}
    assert {name.partition("/")[0] for name in broke} == expected
    assert set(os.listdir("/etc")) == before[0]
    assert not [name for name in set(os.listdir(tempfile.gettempdir())) - before[1] if name.startswith("jp")]
