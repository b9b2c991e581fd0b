"""Shared by all tests."""

import os
from collections.abc import Callable

import hypothesis
import pytest
from tests import needs


def pytest_configure() -> None:
    """Refuse a misspelt BELLJAR_MUST_WORK before anything runs."""
    needs.must_work(os.environ.get("BELLJAR_MUST_WORK", ""))
    # How long an example takes is the machine's business: a loaded one is no reason to fail.
    hypothesis.settings.register_profile("belljar", deadline=None)
    hypothesis.settings.load_profile("belljar")


@pytest.fixture
def need() -> Callable[..., None]:
    """`need("local")` in a test or a fixture: skip it, or fail it, where the feature is lacking."""
    return needs.need
