"""The named steps of a launch, so that a failure says which one it was."""

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


class stage:  # noqa: N801  used like a function
    """Give a failure inside the block the name of the step. A class, since a generator costs a launch more."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Begin the step."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """End it, or say that it failed."""
        if isinstance(error, OSError):
            raise StageError(self._name, error.errno, f"{error.strerror or error}") from error
