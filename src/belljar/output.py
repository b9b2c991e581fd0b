"""What a run produced: text, displays, an error, files; and what it was refused."""

import base64
import binascii
import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from belljar.errors import UsageError
from belljar.request import check_file_name

if TYPE_CHECKING:
    from pathlib import Path

Stream: TypeAlias = Literal["stdout", "stderr"]


class FrameDict(TypedDict):
    """One line of a traceback."""

    file: str
    line: int
    function: str
    text: str


class ErrorDict(TypedDict):
    """The exception that ended the code; all of it is the code's own claim."""

    type: str
    message: str
    args: list[str]
    name: str | None
    traceback: str
    frames: list[FrameDict]


class DisplayDict(TypedDict):
    """One rich output: a value for each MIME type."""

    data: dict[str, Any]
    metadata: dict[str, Any]


class ChunkDict(TypedDict):
    """A piece of output, in order of arrival; `dropped` bytes were left out before it."""

    stream: Stream
    text: str
    dropped: int


class OutputFileDict(TypedDict):
    """A file that the run left: content in base64, size in bytes, mode as a number."""

    content: str
    size: int
    mode: int


class DenialDict(TypedDict):
    """Something that was refused, and how often."""

    kind: str
    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of a traceback."""

    file: str
    line: int
    function: str
    text: str

    def to_dict(self) -> FrameDict:
        """The JSON form."""
        return {"file": self.file, "line": self.line, "function": self.function, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """The exception that ended the code; all of it is the code's own claim.

    `args` are the reprs of the exception's arguments, `name` is what a NameError or AttributeError missed.
    """

    type: str
    message: str
    args: tuple[str, ...] = ()
    name: str | None = None
    traceback: str = ""
    frames: tuple[Frame, ...] = ()

    def to_dict(self) -> ErrorDict:
        """The JSON form."""
        return {
            "type": self.type,
            "message": self.message,
            "args": list(self.args),
            "name": self.name,
            "traceback": self.traceback,
            "frames": [frame.to_dict() for frame in self.frames],
        }

    @classmethod
    def of_form(cls, form: ErrorDict) -> "ErrorInfo":
        """The error from a checked JSON form."""
        return cls(
            type=form["type"],
            message=form["message"],
            args=tuple(form["args"]),
            name=form["name"],
            traceback=form["traceback"],
            frames=tuple(Frame(**frame) for frame in form["frames"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """One rich output, like a notebook's: a value for each MIME type."""

    data: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> DisplayDict:
        """The JSON form."""
        return {"data": dict(self.data), "metadata": dict(self.metadata)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of output, in order of arrival; `dropped` bytes of its stream were left out before it."""

    stream: Stream
    text: str
    dropped: int = 0

    def to_dict(self) -> ChunkDict:
        """The JSON form."""
        return {"stream": self.stream, "text": self.text, "dropped": self.dropped}


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Something that was refused: its kind ("syscall"), its name and how often."""

    kind: str
    name: str
    count: int = 1

    def to_dict(self) -> DenialDict:
        """The JSON form."""
        return {"kind": self.kind, "name": self.name, "count": self.count}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFile:
    """A file that the run left, in memory. The code chose its name: use `save`, never the bare name."""

    name: str
    data: bytes = field(repr=False)
    mode: int = 0o644

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)

    def read(self) -> bytes:
        """The content."""
        return self.data

    def text(self) -> str:
        """The content as UTF-8 text; raises UnicodeDecodeError if it is none."""
        return self.data.decode()

    def save(self, directory: "str | os.PathLike[str]") -> "Path":
        """Write the file below the directory, which is made if needed, and return its path.

        Below the directory no symbolic link is followed, and a file of that name is replaced in one step.
        """
        from pathlib import Path

        *parents, last = check_file_name("name", self.name).split("/")
        os.makedirs(directory, exist_ok=True)
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for parent in parents:
                below = _enter(fd, parent, self.name)
                os.close(fd)
                fd = below
            # Not fchmod: the mode given at creation is cut by the caller's umask.
            _replace(fd, last, self.data, 0o755 if self.mode & 0o111 else 0o644)
        finally:
            os.close(fd)
        return Path(directory, *parents, last)

    def to_dict(self) -> OutputFileDict:
        """The JSON form; the name is the key under which it stands."""
        return {"content": base64.b64encode(self.data).decode(), "size": self.size, "mode": self.mode}

    @classmethod
    def of_form(cls, name: str, form: OutputFileDict, path: str) -> "OutputFile":
        """The file from a checked JSON form."""
        data = from_base64(form["content"], f"{path}.content")
        if len(data) != form["size"]:
            raise UsageError.about(f"{path}.size", form["size"], f"the size of the content, {len(data)}")
        return cls(name=name, data=data, mode=form["mode"])


def from_base64(text: str, path: str) -> bytes:
    """The bytes of strict base64 text."""
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raise UsageError.about(path, text, "base64 text") from None


def _enter(fd: int, name: str, whole: str) -> int:
    try:
        os.mkdir(name, 0o777, dir_fd=fd)
    except FileExistsError:
        pass
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):  # one of these for a symbolic link
            raise
        message = f"'{whole}' cannot be saved: '{name}' is there and is not a directory. Choose another directory."
        raise UsageError(message, field="directory") from None


def _replace(fd: int, name: str, data: bytes, mode: int) -> None:
    temporary = f".belljar-{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    out = os.open(temporary, flags, mode, dir_fd=fd)
    try:
        with open(out, "wb") as file:
            file.write(data)
        os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
    except BaseException:
        os.unlink(temporary, dir_fd=fd)
        raise
