"""The JSON Schemas in docs/schema: up to date, strict, and true."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from belljar.errors import PolicyError
from belljar.limits import Limits
from belljar.policy import Mount, Policy

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "schema"
NAMES = ("result", "limits", "policy")


def read(name: Any) -> Any:
    return json.loads((ROOT / "docs/schema" / f"{name}.json").read_text())


def valid(name: Any, data: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(read(name)).is_valid(data))


@pytest.fixture(scope="module")
def script() -> Any:
    loader = importlib.machinery.SourceFileLoader("belljar_schema_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_committed_files_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_check_sees_a_difference(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--check", "--to", str(tmp_path)]) == 1
    assert list(tmp_path.iterdir()) == []
    assert script.main(["--to", str(tmp_path)]) == 0
    assert script.main(["--check", "--to", str(tmp_path)]) == 0
    capsys.readouterr()
    (tmp_path / "limits.json").write_text("{}")
    assert script.main(["--check", "--to", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message == f"Out of date in {tmp_path}: limits.json. Run scripts/schema and commit.\n"


@pytest.mark.parametrize("name", NAMES)
def test_no_object_takes_unknown_keys(name: Any) -> None:
    schema = read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    objects = [part for part in (schema, *schema.get("$defs", {}).values()) if "properties" in part]
    assert objects
    assert all(part["additionalProperties"] is False for part in objects)


@pytest.mark.parametrize(
    "data", [{}, {"memory": "256M", "wall": 2, "cpu": None, "processes": "4"}, Limits(cpu=1).to_dict()]
)
def test_limits_accepted(data: Any) -> None:
    assert valid("limits", data)
    Limits.from_dict(data)


@pytest.mark.parametrize("data", [{"memry": 1}, {"memory": None}, {"wall": []}, {"processes": 1.5}, []])
def test_limits_refused(data: Any) -> None:
    assert not valid("limits", data)
    with pytest.raises(PolicyError):
        Limits.from_dict(data)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"limits": {"memory": "1G"}, "mounts": [{"source": "/a", "target": "/b"}], "env": {"A": "b"}},
        Policy(mounts=[Mount(source="/a", target="/b")], level="full").to_dict(),
    ],
)
def test_policy_accepted(data: Any) -> None:
    assert valid("policy", data)
    Policy.from_dict(data)


@pytest.mark.parametrize(
    "data",
    [
        {"netwrk": "none"},
        {"network": "all"},
        {"level": "strong"},
        {"overflow": "keep"},
        {"limits": {"memry": 1}},
        {"mounts": [{"source": "/a"}]},
        {"mounts": [{"source": "/a", "target": "/b", "mode": "w"}]},
        {"env": {"A": 1}},
    ],
)
def test_policy_refused(data: Any) -> None:
    assert not valid("policy", data)
    with pytest.raises(PolicyError):
        Policy.from_dict(data)
