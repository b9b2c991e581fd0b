"""The backend `local` keeps the contract."""

from typing import Any

import pytest
from tests.needs import need

from belljar.backends.base import Backend
from belljar.backends.local import LocalBackend
from belljar.testing.contract import BackendContract


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("local")


class TestLocal(BackendContract):
    def make_backend(self, **options: Any) -> Backend:
        return LocalBackend(**options)
