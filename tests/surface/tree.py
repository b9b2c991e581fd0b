"""The tree of the project, read as text: what the other tests here share."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "belljar"


def modules() -> list[Path]:
    """Every Python file of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def relative(path: Path) -> str:
    """A path as the documentation would name it."""
    return str(path.relative_to(PACKAGE))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that a module of the package imports, lazily imported or not."""
    package = ["belljar", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{start}.{alias.name}"


def design_layers() -> list[list[str]]:
    """The layers that docs/design.md draws, top first."""
    text = (ROOT / "docs" / "design.md").read_text()
    section = text.partition("## Layers of the code\n")[2].partition("\n## ")[0]
    return [
        [name.strip() for name in line.split(",")]
        for line in section.splitlines()
        if line.startswith("    ") and line.strip()
    ]
