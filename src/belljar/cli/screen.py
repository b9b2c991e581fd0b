"""What the user sees: the output of the run on our stdout and stderr, and our own notes between."""

from __future__ import annotations

import codecs
import os
import re
import select
from typing import TYPE_CHECKING

from belljar.cli.early_end import OutputClosed
from belljar.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from belljar.output import Stream

_FDS: dict[Stream, int] = {"stdout": 1, "stderr": 2}

# Escape sequences as they are written to terminals (ECMA-48): with parameters, strings, and short ones.
# A string ends at a newline at the latest, so that nothing can hide what comes after it.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]P_^X]|[\x9d\x90\x9f\x9e\x98])[^\n\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=[\n\x1b]))"
    r"|\x1b[ -/]*[0-OQ-WYZ`-~\\]"
)
_UNFINISHED = re.compile(
    r"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]P_^X]|[\x9d\x90\x9f\x9e\x98])[^\n\x07\x1b\x9c]*\x1b?|\x1b[ -/]*)\Z"
)
_LONGEST_SEQUENCE = 4096

# What does not print: controls but \t \n \r, marks that turn the direction of text, line separators, surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


class Plain:
    """Bytes of a program to text that a terminal only prints: without its control sequences, and colours are such."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._held = ""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """The text so far; the beginning of a character or a sequence waits for its rest."""
        text = _SEQUENCE.sub("", self._held + self._decode(data, final))
        self._held = ""
        if unfinished := _UNFINISHED.search(text):
            if len(unfinished[0]) <= _LONGEST_SEQUENCE:
                self._held = unfinished[0]
            text = text[: unfinished.start()]
        return _CONTROLS.sub("", text)


class Screen:
    """Our stdout and stderr: bytes pass as they are, but a terminal gets plain text. Of each stream at most `limit`."""

    def __init__(self, limit: int) -> None:
        self._room: dict[Stream, int] = dict.fromkeys(_FDS, limit)
        self._plain: dict[Stream, Plain] = {stream: Plain() for stream, fd in _FDS.items() if os.isatty(fd)}
        self._one_place = os.path.sameopenfile(1, 2)
        self._in_line = False

    def show(self, stream: Stream, data: bytes) -> None:
        """Pass on what the program has printed, as far as there is room for it."""
        data = data[: self._room[stream]]
        self._room[stream] -= len(data)
        self._write(stream, self._plain[stream].feed(data).encode() if stream in self._plain else data)

    def show_whole(self, stream: Stream, data: bytes) -> None:
        """Show what has already been cut."""
        self._room[stream] = len(data)
        self.show(stream, data)

    def end(self, notes: Sequence[str] = ()) -> None:
        """Everything has come: what was held back is shown, and then what we have to say."""
        for stream, plain in self._plain.items():
            self._write(stream, plain.feed(b"", final=True).encode())
        if notes:
            self.end_line()
        for note in notes:
            say(note)

    def end_line(self) -> None:
        """A note begins a line, whatever the program has left."""
        if self._in_line:
            self._in_line = False
            write("stderr", b"\n")

    def _write(self, stream: Stream, data: bytes) -> None:
        if data:
            write(stream, data)
            if stream == "stderr" or self._one_place:
                self._in_line = not data.endswith(b"\n")


def write(stream: Stream, data: bytes) -> None:
    """Write all of it. Raises OutputClosed when nobody reads it any more."""
    rest, fd = memoryview(data), _FDS[stream]
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:  # somebody else who has it too made it so
            poll = select.poll()
            poll.register(fd, select.POLLOUT)
            poll.poll()
        except BrokenPipeError:
            raise OutputClosed from None
        except OSError as error:
            raise SetupError("it cannot be written", layer=stream, errno=error.errno) from error


def say(text: str) -> None:
    """A line of our own on stderr. That nobody reads it is no mistake."""
    name = "belljar:"
    if os.isatty(2):
        text = _CONTROLS.sub("", text)
        if not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
            name = f"\x1b[31m{name}\x1b[0m"
    try:
        write("stderr", f"{name} {text}\n".encode(errors="backslashreplace"))
    except (OutputClosed, SetupError):
        pass


class Progress:
    """A line on stderr that counts, on a terminal only."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._on = total, 0, os.isatty(2)

    def step(self, name: str) -> None:
        """One more. Called from several threads: a figure that comes late does no harm."""
        self._done += 1
        if self._on:
            write("stderr", f"\r\x1b[K{self._done}/{self._total} {name}".encode())

    def end(self) -> None:
        """Take the line away."""
        if self._on:
            write("stderr", b"\r\x1b[K")
