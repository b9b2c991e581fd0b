"""The backend `namespace` keeps the contract."""

from typing import Any

import pytest
from tests.needs import cgroup, need

from belljar.backends.base import Backend
from belljar.backends.namespace import NamespaceBackend
from belljar.report import Level
from belljar.testing.contract import BackendContract


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("userns")


class TestNamespace(BackendContract):
    level = Level.FULL if cgroup() is None else Level.ROOTLESS

    def make_backend(self, **options: Any) -> Backend:
        return NamespaceBackend(**options)
