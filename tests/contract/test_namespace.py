"""The backend `namespace` keeps the contract."""

from typing import Any

import pytest
from tests.needs import need

from belljar.backends.base import Backend
from belljar.backends.namespace import NamespaceBackend
from belljar.report import Level
from belljar.testing.contract import BackendContract


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("local")


class TestNamespace(BackendContract):
    level = Level.FULL

    def make_backend(self, **options: Any) -> Backend:
        return NamespaceBackend(**options)
