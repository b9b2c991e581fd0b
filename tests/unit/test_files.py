"""Files on their way in and out: named mistakes, nothing leaked, nothing read that the run did not leave itself."""

import gc
import os
import socket
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.needs import need

from belljar import files
from belljar.errors import UsageError
from belljar.files import Collection, Input, close_inputs, collect, open_inputs
from belljar.limits import Limits
from belljar.request import InputFile

LIMITS = Limits(files=100, disk="1M")


def open_descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def collected(directory: Path, inputs: list[Input] | None = None, limits: Limits = LIMITS) -> Collection:
    """`collect`, which must leave nothing open."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    before = open_descriptors()
    try:
        return collect(fd, inputs or [], limits)
    finally:
        assert open_descriptors() == before
        os.close(fd)


def contents(collection: Collection) -> dict[str, bytes]:
    assert all(name == file.name for name, file in collection.files.items())
    return {name: file.data for name, file in collection.files.items()}


# Inputs.


@pytest.mark.parametrize(
    ("content", "size", "mode"),
    [(b"", 0, 0o644), (b"abc", 3, 0o644), ("aé", 3, 0o644)],
)
def test_input_in_memory(content: InputFile, size: int, mode: int) -> None:
    (opened,) = open_inputs({"a": content}, LIMITS)
    assert (opened.name, opened.size, opened.mode, opened.fd) == ("a", size, mode, None)
    assert b"".join(opened.blocks()) == (content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(("mode", "sent"), [(0o600, 0o644), (0o744, 0o755), (0o655, 0o644), (0o4711, 0o755)])
def test_input_from_the_host(tmp_path: Path, mode: int, sent: int) -> None:
    file = tmp_path / "tool"
    file.write_bytes(b"x" * 1000)
    file.chmod(mode)
    before = open_descriptors()
    (opened,) = open_inputs({"bin/tool": file}, LIMITS)
    assert (opened.name, opened.size, opened.mode) == ("bin/tool", 1000, sent)
    assert opened.fd is not None
    assert not os.get_inheritable(opened.fd)
    assert opened.equals(b"x" * 1000)
    close_inputs([opened])
    assert open_descriptors() == before


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(path))


@pytest.mark.parametrize(
    ("make", "accepted"),
    [
        (lambda path: None, "No such file"),
        (Path.mkdir, "a regular file"),
        (_fifo, "a regular file"),
        (_socket, "No such device"),
        (lambda path: path.symlink_to(path), "Too many levels"),
        (lambda path: path.symlink_to("/dev/null"), "a regular file"),
    ],
)
def test_a_mistake_names_its_field_and_leaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], accepted: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").write_text("x")
    make(Path("bad"))
    before = open_descriptors()
    with pytest.raises(UsageError, match=accepted) as caught:
        open_inputs({"a": tmp_path / "good", "b": Path("bad"), "c": tmp_path / "good"}, LIMITS)
    assert caught.value.field == "files['b']"
    assert open_descriptors() == before


def test_a_path_with_a_nul_is_a_usage_error() -> None:
    try:
        open_inputs({"a": Path("a\0b")}, LIMITS)
    except UsageError as error:
        assert error.field == "files['a']"  # noqa: PT017  xfail has to see the plain ValueError


@pytest.mark.parametrize("sizes", [[1025], [1024, 1], [512, 512, 1]])
def test_more_than_the_disk_takes(tmp_path: Path, sizes: list[int]) -> None:
    given_: dict[str, InputFile] = {}
    for number, size in enumerate(sizes):
        (tmp_path / str(number)).write_bytes(b"x" * size)
        given_[str(number)] = tmp_path / str(number)
    before = open_descriptors()
    with pytest.raises(UsageError, match=r"limits\.disk allows") as caught:
        open_inputs(given_, Limits(disk=1024))
    assert caught.value.field == "files"
    assert open_descriptors() == before
    opened = open_inputs(given_, Limits(disk=1025))
    assert sum(file.size for file in opened) == 1025
    close_inputs(opened)
    assert open_descriptors() == before


@pytest.mark.parametrize("block", [1, 3, 10, 1 << 20])
@pytest.mark.parametrize("left", [0, 4, 10, 25])
def test_a_file_that_changes_its_size_is_sent_as_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, left: int
) -> None:
    monkeypatch.setattr(files, "_BLOCK", block)
    file = tmp_path / "file"
    file.write_bytes(b"0123456789")
    (opened,) = open_inputs({"a": file}, LIMITS)
    file.write_bytes((b"0123456789" * 3)[:left])
    sent = list(opened.blocks())
    assert b"".join(sent) == b"0123456789"[:left].ljust(10, b"\0")
    assert all(sent)
    close_inputs([opened])


@settings(deadline=None)
@given(st.binary(max_size=20), st.binary(max_size=20))
def test_equals(data: bytes, other: bytes) -> None:
    opened = Input("a", len(data), 0o644, data)
    assert opened.equals(data)
    assert opened.equals(other) is (data == other)


# What a run left.


def test_regular_files_with_their_modes(tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "deep").write_bytes(b"1")
    (tmp_path / "tool").write_bytes(b"2")
    (tmp_path / "tool").chmod(0o711)
    (tmp_path / "empty").touch()
    found = collected(tmp_path)
    assert contents(found) == {"d/e/deep": b"1", "empty": b"", "tool": b"2"}
    assert {name: file.mode for name, file in found.files.items()} == {"d/e/deep": 0o644, "empty": 0o644, "tool": 0o755}
    assert found.hit == frozenset()
    assert found.total >= 2


def test_what_is_no_file_of_its_own_is_passed_over(tmp_path: Path) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    workspace.mkdir()
    (outside / "secret").write_text("secret")
    (workspace / "link").symlink_to(outside / "secret")
    (workspace / "directory").symlink_to(outside)
    (workspace / "dangling").symlink_to("nowhere")
    (workspace / "hard").hardlink_to(outside / "secret")
    os.mkfifo(workspace / "fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(workspace / "socket"))
    (workspace / "one").write_text("twice")
    (workspace / "two").hardlink_to(workspace / "one")
    (workspace / "good").write_text("x")
    assert contents(collected(workspace)) == {"good": b"x"}


def test_a_tree_deeper_than_32_is_cut(tmp_path: Path) -> None:
    here = tmp_path
    for level in range(40):
        (here / "file").write_text(str(level))
        here /= "d"
        here.mkdir()
    found = contents(collected(tmp_path))
    assert sorted(map(int, found.values())) == list(range(32))
    assert max(name.count("/") for name in found) == 31


def test_a_tree_of_700_levels(tmp_path: Path) -> None:
    """Deeper than a path can be long: nothing here goes by path."""
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(700):
        os.mkdir("d" * 100, dir_fd=fd)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    (tmp_path / "x").write_text("x")
    assert contents(collected(tmp_path)) == {"x": b"x"}


def test_names_that_are_not_utf8_are_passed_over(tmp_path: Path) -> None:
    base = os.fsencode(tmp_path)
    os.mkdir(base + b"/d\xff")
    for name in (b"f\xff", b"d\xff/inside", "é".encode(), b"line\nbreak"):
        with open(base + b"/" + name, "wb") as file:
            file.write(b"x")
    assert set(contents(collected(tmp_path))) == {"é", "line\nbreak"}


@pytest.mark.parametrize(("there", "most", "hit"), [(5, 5, False), (6, 5, True), (50, 5, True), (5, 1, True)])
def test_a_cap_on_the_number(tmp_path: Path, there: int, most: int, hit: bool) -> None:
    for number in range(there):
        (tmp_path / f"{number:02}").touch()
    found = collected(tmp_path, limits=Limits(files=most))
    assert len(found.files) == min(there, most)
    assert (found.hit == {"files"}) is hit


def test_the_number_counts_in_all_directories_together(tmp_path: Path) -> None:
    for directory in range(5):
        (tmp_path / str(directory)).mkdir()
        for number in range(5):
            (tmp_path / str(directory) / str(number)).touch()
    assert collected(tmp_path, limits=Limits(files=30)).hit == frozenset()
    for most in range(1, 30):
        found = collected(tmp_path, limits=Limits(files=most))
        assert found.hit == {"files"}
        assert len(found.files) <= most


def test_a_cap_on_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * 600)
    (tmp_path / "b").write_bytes(b"b" * 600)
    (tmp_path / "c").write_bytes(b"c" * 400)
    found = collected(tmp_path, limits=Limits(disk=1000))
    assert contents(found) == {"a": b"a" * 600, "c": b"c" * 400}
    assert found.hit == {"disk"}
    assert collected(tmp_path, limits=Limits(disk=1600)).hit == frozenset()


def test_a_hole_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "hole", "wb") as file:
        file.truncate(1 << 40)
    found = collected(tmp_path)
    assert found.files == {}
    assert found.hit == {"disk"}
    assert found.total < 1 << 20


@pytest.mark.parametrize(
    ("left", "found"),
    [
        ({"a": b"same", "d/b": b"same"}, {}),
        ({"a": b"changed", "d/b": b"same"}, {"a": b"changed"}),
        ({"a": b"same!", "d/b": b"sam"}, {"a": b"same!", "d/b": b"sam"}),
        ({"d/a": b"same", "d/b": b"same"}, {"d/a": b"same"}),
        ({}, {}),
    ],
)
@pytest.mark.parametrize("in_memory", [True, False])
def test_unchanged_inputs_are_left_out(
    tmp_path: Path, left: Mapping[str, bytes], found: Mapping[str, bytes], in_memory: bool
) -> None:
    host, workspace = tmp_path / "host", tmp_path / "workspace"
    host.write_bytes(b"same")
    (workspace / "d").mkdir(parents=True)
    for name, data in left.items():
        (workspace / name).write_bytes(data)
    content: InputFile = b"same" if in_memory else host
    inputs = open_inputs({"a": content, "d/b": content}, LIMITS)
    assert contents(collected(workspace, inputs)) == found
    close_inputs(inputs)


def test_unchanged_inputs_take_no_room(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a" * 900)
    (tmp_path / "b").write_bytes(b"b" * 900)
    found = collected(tmp_path, open_inputs({"a": b"a" * 900}, Limits(disk=1000)), Limits(disk=1000))
    assert contents(found) == {"b": b"b" * 900}
    assert found.hit == frozenset()


def _as_somebody(directory: Path) -> None:
    """In a child: give up root, take every right away from some entries, and collect the rest."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    if os.geteuid() == 0:
        os.fchown(fd, 65534, 65534)
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    os.fchdir(fd)
    for name in ("good", "secret", "hidden/x", "listed/x", "entered/x"):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "w") as file:
            file.write("x")
    for name, mode in (("secret", 0), ("hidden", 0), ("listed", 0o400), ("entered", 0o100)):
        os.chmod(name, mode)
    found = collect(fd, [], LIMITS)
    assert set(found.files) == {"good"}, found
    os.chmod(".", 0)
    found = collect(fd, [], LIMITS)
    assert found.files == {}, found


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    need("linux")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    pid = os.fork()
    if pid == 0:
        try:
            _as_somebody(workspace)
            os._exit(0)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    for path in (workspace, workspace / "hidden", workspace / "listed", workspace / "entered"):
        path.chmod(0o700)  # so that pytest can remove it
