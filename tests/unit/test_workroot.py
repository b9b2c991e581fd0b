"""Work directories: made, removed whatever is inside, and swept when their keeper could not."""

import fcntl
import gc
import os
import struct
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.needs import need

from belljar.zygote.workroot import PREFIX, WorkRoot, remove_tree, sweep

_GET, _SET, _IMMUTABLE, _APPEND = 0x80086601, 0x40086602, 0x10, 0x20


@pytest.fixture(autouse=True, scope="module")
def _needs() -> None:
    need("linux")


def open_descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def remove(directory: Path, name: str) -> None:
    before = open_descriptors()
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        remove_tree(fd, name)
    finally:
        os.close(fd)
    assert open_descriptors() == before


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


def test_make_remove_close(tmp_path: Path) -> None:
    before = open_descriptors()
    root = WorkRoot(str(tmp_path))
    assert names(tmp_path) == [os.path.basename(root.path)]
    assert os.path.basename(root.path).startswith(PREFIX)
    assert mode(Path(root.path)) == 0o700
    path = root.make("7")
    assert path == os.path.join(root.path, "7")
    assert names(Path(path)) == ["tmp", "workspace"]
    assert [mode(Path(path, name)) for name in ("", "tmp", "workspace")] == [0o700] * 3
    assert root.path_of("7") == path
    with pytest.raises(FileExistsError):
        root.make("7")
    for cell in ("8", "9"):
        root.make(cell)
    Path(root.path, "8", "workspace", "file").touch()
    root.remove("8")
    assert names(Path(root.path)) == ["7", "9"]
    Path(root.path, "9", "tmp", "file").touch()
    root.close()
    assert names(tmp_path) == []
    assert open_descriptors() == before


def test_two_roots_in_one_base(tmp_path: Path) -> None:
    one, other = WorkRoot(str(tmp_path)), WorkRoot(str(tmp_path))
    assert one.path != other.path
    one.close()
    assert names(tmp_path) == [os.path.basename(other.path)]
    other.close()


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(Path.touch, id="file"),
        pytest.param(lambda path: path.symlink_to("/"), id="symlink"),
        pytest.param(os.mkfifo, id="fifo"),
    ],
)
def test_close_removes_what_a_program_put_beside_its_cell(tmp_path: Path, junk: Callable[[Path], None]) -> None:
    """A program of `local` can write to ../../junk, and its keeper leaves all the same."""
    root = WorkRoot(str(tmp_path))
    try:
        junk(Path(root.path, "junk"))
        root.close()
        assert names(tmp_path) == []
    finally:
        if Path(root.path).exists():
            os.close(root._fd)


def deep(directory: Path, levels: int, name: str) -> None:
    fd = os.open(directory, os.O_RDONLY)
    for level in range(levels):
        os.mkdir(name, dir_fd=fd)
        os.close(os.open(f"file{level}", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def _deep(path: Path) -> None:
    deep(path, 700, "d" * 100)


def _longest_names(path: Path) -> None:
    deep(path, 40, "d" * 255)


def _wide(path: Path) -> None:
    for number in range(300):
        (path / str(number)).mkdir()
        (path / str(number) / "x").touch()


def _not_text(path: Path) -> None:
    os.makedirs(os.fsencode(path) + b"/\xff/\xfe")


def _special(path: Path) -> None:
    os.mkfifo(path / "fifo")
    (path / "dangling").symlink_to("nowhere")
    (path / "loop").symlink_to(path)
    (path / "file").touch()
    (path / "hard").hardlink_to(path / "file")


def _like_ours(path: Path) -> None:
    """Names that the removal uses itself."""
    for number in range(4):
        (path / f"moved-{number}" / "moved-0").mkdir(parents=True)


def _no_modes(path: Path) -> None:
    for part in ("a", "a/b", "a/b/c"):
        (path / part).mkdir()
        (path / part / "file").touch()
    for part in ("a/b/c", "a/b", "a"):
        (path / part).chmod(0)
    path.chmod(0)


def _odd_modes(path: Path) -> None:
    for bits in range(8):
        (path / str(bits) / "inside").mkdir(parents=True)
        (path / str(bits) / "inside" / "file").touch(0)
        (path / str(bits) / "inside").chmod(bits << 6)
        (path / str(bits)).chmod(bits << 6)
    path.chmod(0o500)


TREES = [_deep, _longest_names, _wide, _not_text, _special, _like_ours, _no_modes, _odd_modes]


@pytest.mark.parametrize("make", TREES)
def test_any_tree_is_removed(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "tree").mkdir()
    make(tmp_path / "tree")
    remove(tmp_path, "tree")
    assert names(tmp_path) == []


@pytest.mark.parametrize("make", TREES)
def test_any_tree_is_removed_by_an_ordinary_user(tmp_path: Path, make: Callable[[Path], None]) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to be somebody else: the test above is this one")
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    os.fchown(fd, 65534, 65534)
    pid = os.fork()
    if pid == 0:
        try:
            os.fchdir(fd)
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            Path("tree").mkdir()
            make(Path("tree"))
            remove_tree(fd, "tree")
            os._exit(0 if os.listdir(fd) == [] else 2)
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(fd)
    status = os.waitpid(pid, 0)[1]
    if status:
        remove(tmp_path, "tree")  # so that pytest can clean up
    assert status == 0


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir(0o500)
    tree.mkdir()
    (tree / "directory").symlink_to(outside)
    (tree / "file").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "secret").chmod(0o400)
    tree.chmod(0)
    remove(tmp_path, "tree")
    assert names(tmp_path) == ["outside", "secret"]
    assert (mode(outside), mode(tmp_path / "secret")) == (0o500, 0o400)
    assert (tmp_path / "secret").read_text() == "secret"


def set_flag(path: Path, flag: int) -> None:
    """As chattr does; the test is skipped where that is not possible."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        now = struct.unpack("L", fcntl.ioctl(fd, _GET, b"\0" * 8))[0]
        fcntl.ioctl(fd, _SET, struct.pack("L", now | flag))
    except OSError as error:
        pytest.skip(f"no such flag can be set below {path.anchor} here: {error.strerror}")
    finally:
        os.close(fd)


def clear_flags(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.ioctl(fd, _SET, b"\0" * 8)
    finally:
        os.close(fd)


@pytest.fixture
def flagged(tmp_path: Path) -> Iterator[Path]:
    """A tree, whose flags are cleared at the end in any case."""
    (tmp_path / "tree" / "inner").mkdir(parents=True)
    (tmp_path / "tree" / "inner" / "file").touch()
    yield tmp_path / "tree"
    for directory, _, files in os.walk(tmp_path):
        clear_flags(Path(directory))
        for file in files:
            clear_flags(Path(directory, file))


@pytest.mark.parametrize("flag", [_IMMUTABLE, _APPEND])
@pytest.mark.parametrize(
    "part",
    [
        "inner/file",
        "inner",
        "",
    ],
)
def test_flags_that_only_root_can_set(flagged: Path, flag: int, part: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: the flag is not for others to set")
    set_flag(flagged / part, flag)
    remove(flagged.parent, flagged.name)
    assert names(flagged.parent) == []


# What a keeper left that was killed.


def left_behind(base: Path, name: str = f"{PREFIX}0011223344556677") -> Path:
    root = base / name
    (root / "1" / "workspace").mkdir(parents=True)
    (root / "1" / "workspace" / "file").touch()
    (root / "2" / "tmp" / "a" / "b").mkdir(parents=True)
    return root


def test_sweep_removes_what_a_dead_keeper_left(tmp_path: Path) -> None:
    left_behind(tmp_path)
    (tmp_path / f"{PREFIX}{0:016x}").mkdir()
    before = open_descriptors()
    sweep(str(tmp_path))
    assert names(tmp_path) == []
    assert open_descriptors() == before


def test_sweep_leaves_what_is_locked(tmp_path: Path) -> None:
    root = WorkRoot(str(tmp_path))
    root.make("1")
    before = open_descriptors()
    sweep(str(tmp_path))
    assert names(Path(root.path)) == ["1"]
    assert open_descriptors() == before
    root.close()


def test_sweep_removes_it_when_the_lock_is_free(tmp_path: Path) -> None:
    root = WorkRoot(str(tmp_path))
    root.make("1")
    os.close(root._fd)  # as the death of the keeper does
    sweep(str(tmp_path))
    assert names(tmp_path) == []


def test_sweep_leaves_other_things(tmp_path: Path) -> None:
    target = tmp_path / "target"
    (target / "1").mkdir(parents=True)
    (tmp_path / "other-0011").mkdir()
    (tmp_path / "belljar-mine").mkdir()
    (tmp_path / f"x{PREFIX}{4:016x}").mkdir()
    (tmp_path / f"{PREFIX}{1:016x}").touch()
    (tmp_path / f"{PREFIX}{2:016x}").symlink_to(target)
    (tmp_path / f"{PREFIX}{3:016x}").symlink_to("nowhere")
    before = names(tmp_path)
    sweep(str(tmp_path))
    assert names(tmp_path) == before
    assert names(target) == ["1"]


def test_sweep_leaves_what_others_own(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a directory away")
    root = left_behind(tmp_path)
    os.chown(root, 65534, 65534)
    sweep(str(tmp_path))
    assert names(root) == ["1", "2"]


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(lambda root: None, id="nothing"),
        pytest.param(lambda root: (root / "moved-0").mkdir(), id="an empty directory on its way"),
        pytest.param(lambda root: (root / "moved-0" / "below").mkdir(parents=True), id="a directory on its way"),
        pytest.param(lambda root: (root / "file").touch(), id="a file"),
    ],
)
def test_sweep_finishes_what_a_killed_removal_began(tmp_path: Path, junk: Callable[[Path], object]) -> None:
    junk(left_behind(tmp_path))
    sweep(str(tmp_path))
    sweep(str(tmp_path))  # the second keeper may finish it
    assert names(tmp_path) == []


def test_sweep_goes_on_after_one_that_fails(tmp_path: Path) -> None:
    for number in range(3):
        left_behind(tmp_path, f"{PREFIX}{number:016x}")
    locked = WorkRoot(str(tmp_path))
    sweep(str(tmp_path))
    assert names(tmp_path) == [os.path.basename(locked.path)]
    locked.close()


@pytest.mark.parametrize("moment", ["mkdir", "open"])
def test_sweep_leaves_what_is_just_being_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Keepers that start at the same time, in processes of their own, sweep the same base."""
    real = getattr(os, moment)

    def then_sweep(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        monkeypatch.setattr(os, moment, real)
        sweep(str(tmp_path))
        return found

    monkeypatch.setattr(os, moment, then_sweep)
    root = WorkRoot(str(tmp_path))
    root.make("1")
    assert names(tmp_path) == [os.path.basename(root.path)]
    root.close()
