"""Nothing grows without being noticed."""

import ast
from pathlib import Path

import pytest
from tests.surface.tree import modules, relative

LINES_OF_A_MODULE = 400
LINES_OF_A_FUNCTION = 60


@pytest.mark.parametrize("path", modules(), ids=relative)
def test_size(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LINES_OF_A_MODULE
    long = [
        f"{node.name} (line {node.lineno}): {length} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > LINES_OF_A_FUNCTION
    ]
    assert not long


def test_no_drawer_for_odds_and_ends() -> None:
    assert [relative(path) for path in modules() if path.stem in {"utils", "util", "helpers", "misc"}] == []
