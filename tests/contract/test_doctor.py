"""`belljar doctor` as a process: on this host, on a terminal, and inside a cell."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import need
from tests.surface import markdown
from tests.surface.tree import PACKAGE, ROOT

import belljar
from belljar.cli.doctor import _SENTENCES
from belljar.linux.support import LAYERS
from belljar.report import Level

COMMAND = (sys.executable, "-m", "belljar", "doctor")


@pytest.fixture(autouse=True)
def _linux() -> None:
    need("linux")


def on_a_terminal(**more: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    ours, theirs = pty.openpty()
    with subprocess.Popen(COMMAND, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, **more}) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the terminal has gone with its last program
            pass
        os.close(ours)
    assert process.returncode in (0, 1)
    return shown.decode()


def test_both_forms_say_the_same() -> None:
    table = subprocess.run(COMMAND, capture_output=True, text=True, check=False, timeout=60)
    document = subprocess.run([*COMMAND, "--json"], capture_output=True, text=True, check=False, timeout=60)
    assert table.stderr == document.stderr == ""
    told = json.loads(document.stdout)
    assert table.returncode == document.returncode == (0 if told["level"] in ("rootless", "full") else 1)
    assert table.stdout.splitlines()[-1] == f"Level `{told['level']}`: {told['meaning']}"
    for layer in told["layers"]:
        assert re.search(rf"^{layer['layer']} +{layer['state']} ", table.stdout, re.MULTILINE)
        assert layer["state"] == "ok" or (layer["reason"] and layer["cure"])
    assert "\x1b" not in table.stdout


def test_it_tells_what_a_run_gets() -> None:
    need("root", "userns", "seccomp", "cgroup")
    level = json.loads(subprocess.run([*COMMAND, "--json"], capture_output=True, check=True, timeout=60).stdout)[
        "level"
    ]
    assert belljar.run("1", backend="namespace").report.level == level == "full"


def test_colours_on_a_terminal_only() -> None:
    assert "\x1b[32mok" in on_a_terminal(TERM="xterm-256color")
    plain = on_a_terminal(TERM="xterm-256color", NO_COLOR="1")
    assert "\x1b[32m" not in plain
    assert "pidfd" in plain


def test_no_rich_without_a_terminal() -> None:
    command = [sys.executable, "-X", "importtime", *COMMAND[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    imported = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert "belljar.linux.support" in imported
    assert "rich" not in imported


def test_inside_a_cell() -> None:
    """Where everything is refused it answers. The cell has no belljar, so that its files come along."""
    need("userns", "seccomp", "landlock")
    paths = [PACKAGE / "__init__.py", PACKAGE / "version.py", *(PACKAGE / "linux").rglob("*")]
    files = {
        str(path.relative_to(PACKAGE.parent)): path.read_bytes()
        for path in paths
        if path.is_file() and path.suffix != ".pyc"
    }
    files["look.py"] = (
        b"import json\nfrom belljar.linux import support\nfound = support.probe()\n"
        b"print(json.dumps([support.level(found), {one.layer: one._asdict() for one in found.findings}]))\n"
    )
    program = "import os, sys; os.execve(sys.executable, [sys.executable, 'look.py'], {'PYTHONPATH': '.'})"
    result = belljar.run(program, files=files, backend="namespace")
    assert result.ok, result.stderr
    level, findings = json.loads(result.stdout)
    assert level == "reduced"
    assert list(findings) == list(LAYERS)
    assert "seccomp filter" in findings["user namespace"]["reason"]
    assert findings["mounts"]["reason"] == "not tried, since `user namespace` fails"
    assert all(one["works"] or one["cure"] for one in findings.values())


def test_the_page_names_every_layer_and_level() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text()
    named = [name for row in markdown.table(page, "line") for name in row["line"].split(", ")]
    assert sorted(named) == sorted(LAYERS)
    assert {row["level"] for row in markdown.table(page, "level")} == {level.value for level in Level}
    assert set(_SENTENCES) == set(Level)
    assert Path(PACKAGE / "linux" / "support.py").is_file()
