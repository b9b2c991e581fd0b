"""Keeps the first and the last part of what a run prints, in bounded memory whatever the volume."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from belljar.errors import UsageError
from belljar.output import Chunk

if TYPE_CHECKING:
    from belljar.output import Stream

_MOST_SPANS = 4096  # at the beginning, and again at the end


class Capture:
    """One stream: its first and last bytes, and how many there were."""

    def __init__(self, limit: int) -> None:
        self.limit, self.total = limit, 0
        self._head_room, self._tail_room = limit - limit // 2, limit // 2
        self._head, self._tail = bytearray(), bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(data)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            if len(self._tail) > 2 * self._tail_room + 65536:
                self._trim()

    @property
    def dropped(self) -> int:
        """How many bytes in the middle were not kept."""
        return max(0, self.total - self.limit)

    @property
    def data(self) -> bytes:
        """What was kept."""
        self._trim()
        return bytes(self._head + self._tail)

    @property
    def text(self) -> str:
        """What was kept as text, with a line that tells what is missing."""
        self._trim()
        if not self.dropped:
            return bytes(self._head + self._tail).decode("utf-8", "replace")
        head, tail = self._head.decode("utf-8", "replace"), self._tail.decode("utf-8", "replace")
        return f"{head}\n[... {self.dropped} bytes dropped ...]\n{tail}"

    def between(self, start: int, end: int) -> tuple[bytes, int]:
        """What was kept of the bytes from `start` to `end` of the stream, and how many of them were dropped."""
        self._trim()
        kept = bytes(self._head[start:end])
        tail_start = self.total - len(self._tail)
        if end > tail_start:
            kept += bytes(self._tail[max(0, start - tail_start) : end - tail_start])
        return kept, (end - start) - len(kept)

    def _trim(self) -> None:
        if len(self._tail) > self._tail_room:
            del self._tail[: len(self._tail) - self._tail_room]


class Recorder:
    """Both streams of a run, the order in which they came, and the whole of it on disk when asked for."""

    def __init__(self, limit: int, spill: dict[Stream, BinaryIO]) -> None:
        self.streams: dict[Stream, Capture] = {"stdout": Capture(limit), "stderr": Capture(limit)}
        self._spill = spill
        self._first: list[tuple[Stream, int, int]] = []
        self._last: list[tuple[Stream, int, int]] = []

    def feed(self, stream: Stream, data: bytes) -> None:
        """Take what has just arrived."""
        if self._spill:
            self._spill[stream].write(data)
        capture = self.streams[stream]
        start = capture.total
        capture.feed(data)
        spans = self._first if len(self._first) < _MOST_SPANS or not self._last else self._last
        if spans and spans[-1][0] == stream and spans[-1][2] == start:
            spans[-1] = (stream, spans[-1][1], capture.total)
        elif len(self._first) < _MOST_SPANS:
            self._first.append((stream, start, capture.total))
        else:
            self._last.append((stream, start, capture.total))
            if len(self._last) > 2 * _MOST_SPANS:
                del self._last[:_MOST_SPANS]

    @property
    def total(self) -> int:
        """The bytes of both streams."""
        return sum(capture.total for capture in self.streams.values())

    @property
    def overflowed(self) -> bool:
        """One of the streams was longer than its limit."""
        return any(capture.dropped for capture in self.streams.values())

    def chunks(self) -> tuple[Chunk, ...]:
        """The transcript: what was kept, in order of arrival."""
        chunks = []
        for stream, start, end in self._first + self._last:
            kept, dropped = self.streams[stream].between(start, end)
            chunks.append(Chunk(stream=stream, text=kept.decode("utf-8", "replace"), dropped=dropped))
        return tuple(chunks)


class Spill:
    """The whole of both streams as files in a directory of the caller's."""

    def __init__(self, directory: str | os.PathLike[str], run: str) -> None:
        self.paths: dict[Stream, str] = {}
        self.files: dict[Stream, BinaryIO] = {}
        if "/" in run:
            raise UsageError.about("id", run, "an id without '/': the files of `spill` are named after it")
        streams: tuple[Stream, Stream] = ("stdout", "stderr")
        try:
            os.makedirs(directory, exist_ok=True)
            for stream in streams:
                self.paths[stream] = os.path.join(os.fspath(directory), f"{run}.{stream}")
                self.files[stream] = open(self.paths[stream], "xb")  # noqa: SIM115  closed in close()
        except OSError as error:
            self.close()
            accepted = f"a directory for new files ({error.filename}: {error.strerror})"
            raise UsageError.about("spill", os.fspath(directory), accepted) from error

    def close(self) -> None:
        """Flush and close; what was written stays."""
        for file in self.files.values():
            file.close()
