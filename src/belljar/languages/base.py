"""What a language is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from belljar.backends.base import Program
    from belljar.files import Input
    from belljar.request import CallRequest, RunRequest


class Language(Protocol):
    """Makes programs from requests."""

    name: str

    def program(
        self, request: RunRequest | CallRequest, inputs: tuple[Input, ...], environment: Mapping[str, str]
    ) -> Program:
        """The program that the guest is to run."""
        ...
