"""Shared by the tests of walls."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory that everybody may reach and write to, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="belljar-test-") as name:
        os.chmod(name, 0o777)
        yield Path(name)
