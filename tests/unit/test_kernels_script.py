"""scripts/kernels: what it reads, what it calls wrong, and that its page is that of its results."""

import json
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
JUNIT = """<testsuites><testsuite>
<testcase file="tests/unit/test_a.py" classname="tests.unit.test_a" name="test_good" time="2.5"/>
<testcase file="tests/unit/test_a.py" classname="tests.unit.test_a.TestB" name="test_bad[1]" time="0.1">
<failure message="assert 1&#10; == 2"/></testcase>
<testcase file="tests/unit/test_a.py" classname="tests.unit.test_a" name="test_not" time="0">
<skipped message="needs root"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    loader = SourceFileLoader("kernels_script", str(ROOT / "scripts" / "kernels"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_results(kernels: ModuleType) -> None:
    assert kernels.page(json.loads(kernels.RESULTS.read_text())) == kernels.PAGE.read_text()


def test_junit_is_read(kernels: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "report").write_text(JUNIT)
    assert kernels.read(tmp_path / "report") == {
        "passed": {"tests/unit/test_a.py::test_good": ""},
        "skipped": {"tests/unit/test_a.py::test_not": "needs root"},
        "failed": {"tests/unit/test_a.py::TestB::test_bad[1]": "assert 1 == 2"},
        "seconds": {
            "tests/unit/test_a.py::test_good": 2.5,
            "tests/unit/test_a.py::TestB::test_bad[1]": 0.1,
            "tests/unit/test_a.py::test_not": 0.0,
        },
    }


@pytest.mark.parametrize(
    ("level", "expected", "doctor", "wrong"),
    [
        ("full", "full", "full", []),
        ("rootless", "full|rootless", "rootless", []),
        ("refused", "refused", "reduced", []),
        ("rootless", "full", "rootless", ["the level is rootless, and must be full: None"]),
        ("rootless", "rootless", "full", ["belljar doctor says full, the run was rootless"]),
    ],
)
def test_what_is_wrong(kernels: ModuleType, level: str, expected: str, doctor: str, wrong: list[str]) -> None:
    assert kernels.Row("6.1", "user", expected, level=level, doctor={"level": doctor}).wrong == wrong


def test_a_test_that_fails_is_wrong(kernels: ModuleType) -> None:
    row = kernels.Row("6.1", "root", "full", level="full", doctor={"level": "full"}, failures={"a": "b"}, left=["/x"])
    assert row.wrong == ["/x is left", "a: b"]


def test_the_inside_is_not_for_the_outside(kernels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["kernels", "--inside", "6.1"])
    with pytest.raises(SystemExit):
        kernels.main()
