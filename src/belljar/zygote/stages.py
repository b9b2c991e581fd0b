"""The named steps of a launch, so that a failure says which one it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class StageError(Exception):
    """A step of the launch failed: its name, the errno if the kernel gave one, and a sentence."""

    def __init__(self, stage: str, errno: int | None, text: str) -> None:
        super().__init__(stage, errno, text)
        self.stage, self.errno, self.text = stage, errno, text

    @classmethod
    def from_packet(cls, packet: dict[str, Any]) -> "StageError":
        """The error that was sent as `packet`."""
        return cls(packet["failed"], packet["errno"], packet["text"])

    def packet(self) -> dict[str, Any]:
        """The form in which it travels to the caller."""
        return {"failed": self.stage, "errno": self.errno, "text": self.text}


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Give a failure inside the block the name of the step."""
    try:
        yield
    except OSError as error:
        raise StageError(name, error.errno, f"{error.strerror or error}") from error
