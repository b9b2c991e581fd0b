"""Shared by all tests."""

import os
from collections.abc import Callable

import pytest
from tests import needs


def pytest_configure() -> None:
    """Refuse a misspelt BELLJAR_MUST_WORK before anything runs."""
    needs.must_work(os.environ.get("BELLJAR_MUST_WORK", ""))


@pytest.fixture
def need() -> Callable[..., None]:
    """`need("local")` in a test or a fixture: skip it, or fail it, where the feature is lacking."""
    return needs.need
