"""What users can import, and what the import costs."""

import ast
import inspect
import subprocess
import sys
import time

import pytest
from tests.surface.tree import PACKAGE

import belljar

NAMES = sorted(belljar.__all__)
COST = 0.040


def seen_by_type_checkers() -> list[str]:
    """Public names of `__init__.py`: what it imports of the package, lazily or not, and what it defines."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("belljar")):
            names |= {alias.asname or alias.name for alias in node.names}
    return sorted(name for name in names if name in NAMES or not name.startswith("_"))


def fresh(code: str) -> str:
    """What a new interpreter prints for this code."""
    return subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_all_is_sorted_and_unique() -> None:
    assert sorted(set(belljar.__all__)) == NAMES


def test_dir_is_all() -> None:
    assert sorted(name for name in dir(belljar) if name in NAMES or not name.startswith("_")) == NAMES


def test_dir_is_all_before_anything_was_used() -> None:
    code = "import belljar; print(*sorted(n for n in dir(belljar) if n[0] != '_'))"
    assert fresh(code).split() == [name for name in NAMES if not name.startswith("_")]


def test_type_checkers_see_the_same() -> None:
    assert seen_by_type_checkers() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_name_resolves_and_is_documented(name: str) -> None:
    thing = getattr(belljar, name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        text = inspect.getdoc(thing) if inspect.isfunction(thing) else thing.__doc__
        assert text, f"{name} has no docstring"
        # A dataclass without a docstring gets its own signature as one.
        assert not text.startswith(f"{name}("), f"{name} has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_methods_are_documented(name: str) -> None:
    thing = getattr(belljar, name)
    if not inspect.isclass(thing):
        return
    bare = [
        member
        for member, value in vars(thing).items()
        if not member.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod))
        and not inspect.getdoc(getattr(thing, member))
    ]
    assert bare == []


def test_unknown_name() -> None:
    # That mypy needs the "ignore" proves that users' type checkers notice a misspelt name, too.
    with pytest.raises(AttributeError, match="no_such_name"):
        belljar.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_import_alone_loads_nothing_more() -> None:
    code = "import sys, belljar; print(*sorted(m for m in sys.modules if m.startswith('belljar.')))"
    assert set(fresh(code).split()) <= {"belljar.version"}


def test_import_and_every_name_need_no_other_package() -> None:
    code = (
        "import sys; before = set(sys.modules); import belljar\n"
        "for name in belljar.__all__: getattr(belljar, name)\n"
        "print(*sorted({m.partition('.')[0] for m in set(sys.modules) - before}))"
    )
    assert [name for name in fresh(code).split() if name not in sys.stdlib_module_names] == ["belljar"]


def test_import_is_quick() -> None:
    def seconds(code: str) -> float:
        start = time.perf_counter()
        fresh(code)
        return time.perf_counter() - start

    pairs = [(seconds("pass"), seconds("import belljar")) for _ in range(7)]
    cost = min(taken for _, taken in pairs) - min(bare for bare, _ in pairs)
    assert cost <= COST, f"importing belljar costs {cost * 1000:.0f} ms over a bare interpreter"
