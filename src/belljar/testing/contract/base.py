"""What all parts of the contract stand on: a sandbox of the backend under test, by either face."""

from __future__ import annotations

import asyncio
import os
import select
import time
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest

from belljar.policy import Policy
from belljar.report import Level
from belljar.sandbox import AsyncSandbox, Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from belljar.backends.base import Backend
    from belljar.result import Result

Face = Literal["sync", "async"]
Runner = "Callable[..., Result]"


class ContractBase:
    """The fixtures. A subclass says how to make the backend."""

    level = Level.NONE

    def make_backend(self, **options: Any) -> Backend:
        """A new backend; `options` are those of its constructor."""
        raise NotImplementedError

    def make_sandbox(self, **options: Any) -> Sandbox:
        """A new sandbox with a backend of its own, whose level is accepted."""
        return Sandbox(self._policy(options), backend=self.make_backend(**options))

    def make_async_sandbox(self, **options: Any) -> AsyncSandbox:
        """The same for asyncio."""
        return AsyncSandbox(self._policy(options), backend=self.make_backend(**options))

    def _policy(self, options: dict[str, Any]) -> Policy:
        policy = cast("Policy", options.pop("policy", None) or Policy())
        return policy.replace(level=self.level)

    @pytest.fixture(scope="class")
    @classmethod
    def sandbox(cls) -> Iterator[Sandbox]:
        """One sandbox for the tests of a class that do not need their own."""
        with cls().make_sandbox() as box:
            yield box

    @pytest.fixture(params=["sync", "async"])
    def face(self, request: pytest.FixtureRequest) -> Face:
        """Which of the two faces is used."""
        return cast("Face", request.param)

    @pytest.fixture
    def run(self, sandbox: Sandbox, face: Face) -> Callable[..., Result]:
        """Runs a program, by either face of one engine."""
        if face == "sync":
            return sandbox.run
        twin = AsyncSandbox.sharing(sandbox)
        return lambda source, **options: asyncio.run(twin.run(source, **options))

    @pytest.fixture
    def call(self, sandbox: Sandbox, face: Face) -> Callable[..., Result]:
        """Calls a function, by either face of one engine."""
        if face == "sync":
            return sandbox.call
        twin = AsyncSandbox.sharing(sandbox)
        return lambda *source, **options: asyncio.run(twin.call(*source, **options))


def wait_until(condition: Callable[[], object], what: str, within: float = 10.0) -> None:
    """Wait for something that another process brings about."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {within} s")
        select.select([], [], [], 0.005)


def tagged(tag: str) -> list[int]:
    """The living processes of this machine that have `tag` in their command line."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as cmdline, open(f"/proc/{name}/stat", "rb") as stat:
                dead = stat.read().rsplit(b")", 1)[1].split()[0] == b"Z"
                if tag.encode() in cmdline.read() and not dead:
                    found.append(int(name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def unique() -> str:
    """A word that no other process has in its command line."""
    return f"belljar-contract-{os.urandom(6).hex()}"
