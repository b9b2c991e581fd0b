"""The walls leave ordinary programs alone: what `scripts/compatibility` runs, as far as it is quick.

Not tried: what is known not to work and is to be mended (`NOTES`), and packages that the interpreter of the tests has
not installed.
"""

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.needs import need

import belljar

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compatibility"
SLOW = {"scikit-learn: joblib processes (loky)", "torch: torch.compile"}


@cache
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("belljar_compatibility_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # where its dataclasses look for their annotations
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def probes(groups: tuple[str, ...], wanted: Callable[[str], bool]) -> list[object]:
    return [pytest.param(probe, id=probe.name) for probe in script().probes(*groups) if wanted(probe.name)]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[belljar.Sandbox]:
    need("root" if os.geteuid() == 0 else "userns")
    with belljar.Sandbox(backend="namespace", limits=belljar.Limits(**script().LIMITS)) as sandbox:
        yield sandbox


def ready(probe: Any) -> None:
    if reason := probe.lacking():
        pytest.skip(reason)


@pytest.mark.parametrize(
    "probe", probes(("packages", "library", "tools", "node"), lambda name: name not in {*script().NOTES, *SLOW})
)
def test_works(sandbox: belljar.Sandbox, probe: Any) -> None:
    ready(probe)
    result = sandbox.run(probe.program)
    assert result.ok, f"{result.outcome}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
    if probe.options.startswith("file="):
        assert probe.options.removeprefix("file=") in result.files
    if probe.options == "twice":
        assert sandbox.run(probe.program).stdout != result.stdout


@pytest.mark.parametrize("probe", probes(("library", "tools"), lambda name: name in script().REFUSED))
def test_is_refused(sandbox: belljar.Sandbox, probe: Any) -> None:
    ready(probe)
    assert sandbox.run(probe.program).outcome == belljar.Outcome.FAILED


def test_every_note_is_about_a_probe() -> None:
    names = {probe.name for probe in script().probes("packages", "preload", "library", "tools", "node")}
    of_cpython = {name for name in script().NOTES if "test_" in name or name == "_pty"}
    assert set(script().NOTES) - of_cpython <= names
    assert set(script().REFUSED) <= names
    assert names >= SLOW


def test_script_is_executable() -> None:
    assert os.access(SCRIPT, os.X_OK)
