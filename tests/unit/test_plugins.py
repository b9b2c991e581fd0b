"""Backends and languages by name: the built-in ones, those of other packages, and names that are wrong."""

import importlib
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from belljar import plugins
from belljar.backends import registry as backends
from belljar.errors import MissingExtra, UsageError
from belljar.languages import registry as languages
from belljar.sandbox import Sandbox
from belljar.testing import FakeBackend

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())

# One package, installed by hand: a backend, a language, and entries that are broken in each way.
CODE = """\
from belljar.languages.python import Python
from belljar.testing import FakeBackend

class Mine(FakeBackend):
    name = "mine"
    def __init__(self, *, preload=(), python=None, parked=None):
        super().__init__()
        self.options = (list(preload), python, parked)

class Loud(Python):
    name = "loud"
    def program(self, request, inputs, environment):
        import dataclasses
        made = super().program(request, inputs, environment)
        return dataclasses.replace(made, source=made.source.upper())
"""
ENTRIES = """\
[belljar.backends]
mine = third_party_of_belljar:Mine
no-module = third_party_that_is_not_there:X
no-dependency = third_party_with_a_need:X
no-attribute = third_party_of_belljar:Missing
local = third_party_of_belljar:Mine

[belljar.languages]
loud = third_party_of_belljar:Loud
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package above, on sys.path."""
    (tmp_path / "third_party_of_belljar.py").write_text(CODE)
    (tmp_path / "third_party_with_a_need.py").write_text("import nopkg_xyz\n")
    info = tmp_path / "third_party-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(languages, "_made", {})
    yield
    for name in ("third_party_of_belljar", "third_party_with_a_need"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


@pytest.mark.parametrize(
    ("group", "built_in"), [(backends.GROUP, backends.BUILT_IN), (languages.GROUP, languages.BUILT_IN)]
)
def test_what_is_built_in_is_what_the_package_offers(group: str, built_in: Mapping[str, str]) -> None:
    assert built_in == PYPROJECT["project"]["entry-points"][group]
    for name in built_in:
        found = plugins.find(group, "field", name, built_in)
        named: Any = found if isinstance(found, type) else found()
        assert named.name == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("locla", r"`backend` has no 'locla': it takes .*local.*\. Did you mean 'local'\?"),
        ("docker", r"`backend` has no 'docker': it takes .*local"),
        ("LOCAL", r"`backend` has no 'LOCAL'"),
    ],
)
def test_an_unknown_backend(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=text) as caught:
        Sandbox(backend=name)
    assert caught.value.field == f"backend.{name}"


@pytest.mark.parametrize("name", ["pyhton", "Pyhton"])
def test_an_unknown_language(name: str) -> None:
    with pytest.raises(UsageError, match="Did you mean 'python'"):
        Sandbox(backend=FakeBackend()).run("1", language=name)


@pytest.mark.parametrize("name", ["python", "Python", "PYTHON"])
def test_languages_in_any_case(name: str) -> None:
    assert languages.language(name) is languages.language("python")


def test_the_default_backend_is_built_in() -> None:
    assert backends.DEFAULT in backends.BUILT_IN


@pytest.mark.usefixtures("installed")
def test_a_backend_of_another_package() -> None:
    box = Sandbox(backend="mine", preload=["json"], parked=3)
    backend: Any = box._engine.backend
    assert backend.name == "mine"
    assert backend.options == (["json"], None, 3)
    assert box._engine.policy.level.value == "none"  # naming it is accepting its level
    assert box.run("x").ok


@pytest.mark.usefixtures("installed")
def test_a_language_of_another_package() -> None:
    backend = FakeBackend()
    Sandbox(backend=backend).run("shout", language="LOUD")
    assert backend.programs[0].source == b"SHOUT"


@pytest.mark.usefixtures("installed")
def test_names_of_other_packages_are_proposed_too() -> None:
    with pytest.raises(UsageError, match=r"it takes .*local, mine.*Did you mean 'mine'"):
        Sandbox(backend="mime")


@pytest.mark.usefixtures("installed")
def test_another_package_cannot_replace_what_is_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("importlib.metadata.entry_points")  # it is not even asked
    assert backends.backend_class("local").__module__ == "belljar.backends.local"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "package"), [("no-module", "third_party_that_is_not_there"), ("no-dependency", "nopkg_xyz")]
)
def test_a_missing_extra_says_how_to_install_it(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError, match=package):
        backends.backend_class(name)
    monkeypatch.setitem(plugins.EXTRAS, name, "x")
    with pytest.raises(MissingExtra, match=f"'{name}' needs the package '{package}'") as caught:
        backends.backend_class(name)
    assert caught.value.extra == "x"
    assert caught.value.cure == "pip install 'belljar[x]'"
    assert str(caught.value).endswith("Cure: pip install 'belljar[x]'")


@pytest.mark.usefixtures("installed")
def test_an_entry_point_that_names_nothing_is_the_packages_mistake() -> None:
    with pytest.raises(AttributeError, match="Missing"):
        backends.backend_class("no-attribute")
