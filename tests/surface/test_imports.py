"""Imports go downwards only, and what runs beside user code needs nothing but Python."""

import configparser
import subprocess
import sys
from pathlib import Path

import pytest
from tests.surface.tree import PACKAGE, ROOT, design_layers, imports, modules, relative

# Folder -> what it may import of belljar. They run in the keeper's interpreter, not in the caller's.
BESIDE_USER_CODE = {
    "guest": ("guest",),
    "linux": ("linux",),
    "zygote": ("zygote", "guest", "linux"),
}
HOST_SIDE = {"zygote/client.py"}


def allowed(name: str, folders: tuple[str, ...]) -> bool:
    top, *rest = name.split(".")
    if top != "belljar":
        return top in sys.stdlib_module_names
    if name.startswith("belljar.zygote.client"):
        return False
    return bool(rest) and rest[0] in folders


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in modules()
        if path.relative_to(PACKAGE).parts[0] in BESIDE_USER_CODE and relative(path) not in HOST_SIDE
    ],
    ids=relative,
)
def test_only_python_beside_user_code(path: Path) -> None:
    folders = BESIDE_USER_CODE[path.relative_to(PACKAGE).parts[0]]
    wrong = [f"line {line}: {name}" for line, name in imports(path) if not allowed(name, folders)]
    assert not wrong


@pytest.mark.parametrize(
    ("name", "folder", "expected"),
    [
        ("os.path", "guest", True),
        ("rich", "guest", False),
        ("belljar.guest.channel", "guest", True),
        ("belljar.linux.prctl", "guest", False),
        ("belljar.linux.prctl", "zygote", True),
        ("belljar.zygote.client.Zygote", "zygote", False),
        ("belljar.errors.SetupError", "linux", False),
        ("belljar", "zygote", False),
    ],
)
def test_the_rule_itself(name: str, folder: str, expected: bool) -> None:
    assert allowed(name, BESIDE_USER_CODE[folder]) is expected


def test_layers() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-logo", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_contract_is_what_the_design_says() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter")
    contract = config["importlinter:contract:layers"]["layers"].split("\n")
    ours = [sorted(name.strip() for name in line.split(":")) for line in contract if line.strip()]
    # zygote/client.py has contracts of its own, since a layer cannot lie inside another one.
    design = [sorted(name for name in layer if name != "zygote.client") for layer in design_layers()]
    assert ours == design
