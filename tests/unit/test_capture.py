"""What is kept of a stream: its first and last bytes, in bounded memory, and all of it on disk when asked."""

from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belljar import capture
from belljar.capture import Capture, Recorder, Spill
from belljar.errors import UsageError
from belljar.output import Chunk, Stream

limits = st.integers(1, 40)
pieces = st.lists(st.binary(max_size=20), max_size=30)
streams: st.SearchStrategy[Stream] = st.sampled_from(["stdout", "stderr"])
writes = st.lists(st.tuples(streams, st.text("ab", min_size=1, max_size=5)), max_size=30)


def fed(limit: int, data: list[bytes]) -> Capture:
    taken = Capture(limit)
    for piece in data:
        taken.feed(piece)
    return taken


def numbered(size: int) -> bytes:
    """Bytes of which no two near ones are alike."""
    return bytes(index % 251 for index in range(size))


@settings(deadline=None)
@given(limit=limits, data=pieces)
def test_keeps_the_first_and_the_last_half(limit: int, data: list[bytes]) -> None:
    taken, whole = fed(limit, data), b"".join(data)
    head, tail = limit - limit // 2, limit // 2
    expected = whole if len(whole) <= limit else whole[:head] + whole[len(whole) - tail :]
    assert taken.data == expected
    assert taken.total == len(whole)
    assert taken.dropped == len(whole) - len(expected)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("size", [1, 65_536, 200_001])
def test_volume_does_not_change_what_is_kept(limit: int, size: int) -> None:
    whole = numbered(400_003)
    taken = fed(limit, [whole[at : at + size] for at in range(0, len(whole), size)])
    assert taken.data == whole[: limit - limit // 2] + whole[len(whole) - limit // 2 :]
    assert taken.dropped == len(whole) - limit


@settings(deadline=None)
@given(limit=limits, data=pieces, start=st.integers(0, 200), length=st.integers(0, 200))
def test_between_agrees_with_what_is_kept(limit: int, data: list[bytes], start: int, length: int) -> None:
    taken, whole = fed(limit, data), b"".join(data)
    start = min(start, len(whole))
    end = min(start + length, len(whole))
    assert len(taken.data) <= limit  # reading it once is part of what the engine does first
    head, tail = limit - limit // 2, len(whole) - limit // 2
    expected = bytes(whole[at] for at in range(start, end) if at < head or at >= tail)
    assert taken.between(start, end) == (expected, end - start - len(expected))


def test_between_before_anything_else_was_read() -> None:
    assert fed(10, [numbered(100)]).between(0, 100)[1] == 90


@pytest.mark.parametrize("size", [1, 1000, 65_536])
def test_the_tail_is_bounded(size: int) -> None:
    taken, most = Capture(1000), 0
    for _ in range(200_000 // size + 20):
        taken.feed(b"x" * size)
        most = max(most, len(taken._tail) + len(taken._head))
    assert most <= 500 + 2 * 500 + 65_536 + size


def test_text_tells_what_is_missing() -> None:
    assert fed(4, [b"abcdefgh"]).text == "ab\n[... 4 bytes dropped ...]\ngh"
    assert fed(4, [b"abcd"]).text == "abcd"
    assert fed(4, [b"a\xffb"]).text == "a\ufffdb"
    assert fed(4, ["aé".encode(), b"b"]).text == "aéb"  # a character on the cut is whole


@settings(deadline=None)
@given(data=writes)
def test_transcript_is_all_of_it_when_nothing_is_dropped(data: list[tuple[Stream, str]]) -> None:
    recorder = Recorder(1000, {})
    expected: list[Chunk] = []
    for stream, text in data:
        recorder.feed(stream, text.encode())
        if expected and expected[-1].stream == stream:
            expected[-1] = Chunk(stream=stream, text=expected[-1].text + text)
        else:
            expected.append(Chunk(stream=stream, text=text))
    assert list(recorder.chunks()) == expected
    assert recorder.total == sum(len(text) for _, text in data)
    assert not recorder.overflowed
    for stream, taken in recorder.streams.items():
        assert "".join(chunk.text for chunk in recorder.chunks() if chunk.stream == stream) == taken.text


@settings(deadline=None)
@given(limit=limits, data=writes)
def test_transcript_accounts_for_every_byte(limit: int, data: list[tuple[Stream, str]]) -> None:
    recorder = Recorder(limit, {})
    for stream, text in data:
        recorder.feed(stream, text.encode())
    for stream, taken in recorder.streams.items():
        kept = taken.data
        mine = [chunk for chunk in recorder.chunks() if chunk.stream == stream]
        assert "".join(chunk.text for chunk in mine).encode() == kept
        assert sum(chunk.dropped for chunk in mine) == taken.dropped
    assert recorder.overflowed is any(taken.dropped for taken in recorder.streams.values())


@pytest.mark.parametrize("turns", [4096, 4097, 3 * 4096, 3 * 4096 + 1, 50_000])
def test_alternating_writes_stay_bounded(turns: int) -> None:
    recorder = Recorder(1 << 20, {})
    most = 0
    for turn in range(turns):
        recorder.feed("stdout" if turn % 2 else "stderr", b"%d\n" % turn)
        most = max(most, len(recorder._first) + len(recorder._last))
    assert most <= 3 * capture._MOST_SPANS
    said = [int(chunk.text) for chunk in recorder.chunks()]
    assert said == sorted(said)
    assert said[: min(turns, 4096)] == list(range(min(turns, 4096)))
    assert said[-min(turns, 4096) :] == list(range(turns - min(turns, 4096), turns))
    assert all((int(chunk.text) % 2 == 1) is (chunk.stream == "stdout") for chunk in recorder.chunks())


def test_the_first_spans_still_grow_when_they_are_full() -> None:
    recorder = Recorder(1 << 20, {})
    for turn in range(4096):
        recorder.feed("stdout" if turn % 2 else "stderr", b"x")
    recorder.feed("stdout", b"more")
    assert recorder.chunks()[-1] == Chunk(stream="stdout", text="xmore")


@settings(deadline=None)
@given(limit=limits, data=writes)
def test_spill_has_everything(
    tmp_path_factory: pytest.TempPathFactory, limit: int, data: list[tuple[Stream, str]]
) -> None:
    spill = Spill(tmp_path_factory.mktemp("spill") / "made" / "here", "run")
    recorder = Recorder(limit, spill.files)
    for stream, text in data:
        recorder.feed(stream, text.encode())
    spill.close()
    for stream in spill.paths:
        assert Path(spill.paths[stream]).read_text() == "".join(text for name, text in data if name == stream)
    assert [Path(path).name for path in spill.paths.values()] == ["run.stdout", "run.stderr"]


def test_spill_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "run.stdout").write_text("mine")
    with pytest.raises(UsageError):
        Spill(tmp_path, "run")
    assert [file.name for file in tmp_path.iterdir()] == ["run.stdout"]
    assert (tmp_path / "run.stdout").read_text() == "mine"


def test_spill_that_fails_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[BinaryIO] = []

    def watched(path: str, mode: str) -> BinaryIO:
        file: BinaryIO = open(path, mode)  # type: ignore[assignment]  # noqa: SIM115
        opened.append(file)
        return file

    (tmp_path / "run.stderr").write_text("mine")
    monkeypatch.setattr(capture, "open", watched, raising=False)
    with pytest.raises(UsageError):
        Spill(tmp_path, "run")
    left = [file for file in opened if not file.closed]
    for file in left:
        file.close()
    assert left == []
