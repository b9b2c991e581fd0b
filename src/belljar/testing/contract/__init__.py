"""The suite that every backend has to pass. A backend of one's own runs it like this:

    from belljar.testing.contract import BackendContract

    class TestMine(BackendContract):
        def make_backend(self, **options):
            return MyBackend(**options)

Each test runs by the sync and by the async face. pytest is needed.
"""

import pytest

# So that a failing assert shows its values, as in a test of one's own.
for _part in ("calls", "endings", "files", "languages", "life", "limits", "output", "program", "stdin"):
    pytest.register_assert_rewrite(f"{__name__}.{_part}")

from belljar.testing.contract.calls import CallContract
from belljar.testing.contract.endings import EndingContract
from belljar.testing.contract.files import FileContract
from belljar.testing.contract.languages import LanguageContract
from belljar.testing.contract.life import LifeContract
from belljar.testing.contract.limits import LimitContract
from belljar.testing.contract.output import OutputContract
from belljar.testing.contract.program import ProgramContract
from belljar.testing.contract.stdin import StdinContract

__all__ = ["BackendContract"]


class BackendContract(
    CallContract,
    EndingContract,
    FileContract,
    LanguageContract,
    LifeContract,
    LimitContract,
    OutputContract,
    ProgramContract,
    StdinContract,
):
    """All of it."""
