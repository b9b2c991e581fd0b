"""Both generations of linux/cgroup*.py over a fake tree: files as the kernel has them, which do nothing."""

import os
from pathlib import Path

import pytest

from belljar.linux import cgroup, cgroup_v1, cgroup_v2
from belljar.linux.cgroup import GroupUsage, below
from belljar.linux.cgroup_v1 import GroupV1
from belljar.linux.cgroup_v2 import GroupV2

V2_FILES = {
    "cgroup.controllers": "cpuset cpu io memory pids\n",
    "cgroup.subtree_control": "",
    "cgroup.procs": "",
    "cgroup.type": "domain\n",
    "cgroup.events": "populated 0\nfrozen 0\n",
    "cgroup.kill": "",
    "cpu.max": "max 100000\n",
    "cpu.stat": "usage_usec 3500000\nuser_usec 2500000\nsystem_usec 1000000\n",
    "memory.max": "max\n",
    "memory.swap.max": "max\n",
    "memory.oom.group": "0\n",
    "memory.current": "4096\n",
    "memory.peak": "8192\n",
    "memory.events": "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\n",
    "pids.max": "max\n",
    "pids.events": "max 7\n",
    "pids.peak": "5\n",
}
V1_FILES = {
    "memory": {
        "memory.limit_in_bytes": "9223372036854771712\n",
        "memory.memsw.limit_in_bytes": "9223372036854771712\n",
        "memory.swappiness": "60\n",
        "memory.usage_in_bytes": "4096\n",
        "memory.max_usage_in_bytes": "8192\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    },
    "pids": {"pids.max": "max\n", "pids.events": "max 4\n"},
    "cpu": {"cpu.cfs_period_us": "100000\n", "cpu.cfs_quota_us": "-1\n"},
    "cpuacct": {"cpuacct.stat": "user 250\nsystem 100\n"},
    "freezer": {"freezer.state": "THAWED\n"},
}


def fill(directory: Path, files: dict[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernel does in a real tree: a new directory has its files, and goes with them."""
    mkdir, rmdir = os.mkdir, os.rmdir

    def make(path: str | Path, mode: int = 0o777) -> None:
        mkdir(path, mode)
        directory = Path(path)
        for tree, files in V1_FILES.items():
            if f"/cg/{tree}" in str(path) or f"/cg/{tree}," in str(path) or f",{tree}/" in str(path):
                fill(directory, files | {"cgroup.procs": ""})
        if "/unified" in str(path):
            upper = (directory.parent / "cgroup.subtree_control").read_text().replace("+", "")
            fill(directory, V2_FILES | {"cgroup.controllers": upper})

    def remove(path: str | Path) -> None:
        if not any(child.is_dir() for child in Path(path).iterdir()):
            for child in Path(path).iterdir():
                child.unlink()
        rmdir(path)

    monkeypatch.setattr(os, "mkdir", make)
    monkeypatch.setattr(os, "rmdir", remove)


def host(root: Path, mountinfo: str, places: str) -> str:
    fill(root / "proc/self", {"mountinfo": mountinfo, "cgroup": places})
    return str(root)


def legacy(root: Path, trees: str = "memory pids cpu,cpuacct freezer") -> str:
    lines, places = [], []
    for index, tree in enumerate(trees.split()):
        fill(root / f"cg/{tree}/mine", {})
        lines.append(f"{30 + index} 23 0:{index} / /cg/{tree} rw - cgroup cgroup rw,{tree}\n")
        places.append(f"{index}:{tree}:/mine\n")
    return host(root, "".join(lines), "".join(places))


def unified(root: Path, place: str, **changed: str) -> tuple[str, Path]:
    own = root / "unified" / place.strip("/")
    for directory in (root / "unified", *reversed(own.parents), own):
        if directory.is_relative_to(root / "unified"):
            fill(directory, V2_FILES)
    (root / "unified/cgroup.type").unlink()
    return host(root, "41 31 0:38 / /unified rw - cgroup2 cgroup2 rw\n", f"0::{place}\n"), own


def v1(root: Path) -> tuple[cgroup_v1.TreeV1, GroupV1]:
    tree = cgroup_v1.probe("keeper", legacy(root))
    assert not isinstance(tree, str)
    return tree, tree.make_group("cell")


def v2(root: Path) -> tuple[cgroup_v2.TreeV2, GroupV2]:
    tree = cgroup_v2.probe("keeper", unified(root, "/")[0])
    assert not isinstance(tree, str)
    return tree, tree.make_group("cell")


def test_v1_makes_one_directory_in_each_tree(tmp_path: Path) -> None:
    tree, group = v1(tmp_path)
    assert tree.place == f"{tmp_path}/cg/memory/mine/belljar/keeper"
    assert tree.missing == ()
    assert [place.removeprefix(f"{tmp_path}/cg/") for place in group.places] == [
        f"{name}/mine/belljar/keeper/cell" for name in ("memory", "pids", "cpu,cpuacct", "freezer")
    ]


def test_v1_limits(tmp_path: Path) -> None:
    group = v1(tmp_path)[1]
    group.limit(memory=1 << 20, processes=9, cpu_quota=0.5)
    memory, pids, cpu = (Path(group.directories[name]) for name in ("memory", "pids", "cpu"))
    assert (memory / "memory.limit_in_bytes").read_text() == str(1 << 20)
    assert (memory / "memory.memsw.limit_in_bytes").read_text() == str(1 << 20)
    assert (pids / "pids.max").read_text() == "9"
    assert (cpu / "cpu.cfs_period_us").read_text() == "100000"
    assert (cpu / "cpu.cfs_quota_us").read_text() == "50000"


def test_v1_without_swap_accounting_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {name: text for name, text in V1_FILES["memory"].items() if "memsw" not in name}
    monkeypatch.setitem(V1_FILES, "memory", files)
    tree, group = v1(tmp_path)
    assert [reason.split(":")[0] for reason in tree.missing] == ["swap"]
    group.limit(memory=1 << 20)
    assert (Path(group.directories["memory"]) / "memory.swappiness").read_text() == "0"


def test_v1_usage(tmp_path: Path) -> None:
    tick = os.sysconf("SC_CLK_TCK")
    group = v1(tmp_path)[1]
    assert group.usage() == GroupUsage(8192, None, 2, 4)
    assert group.cpu_time() == (250 / tick, 100 / tick)


def test_v1_attaches_in_every_tree(tmp_path: Path) -> None:
    group = v1(tmp_path)[1]
    assert group.is_empty()
    group.attach(4_000_000)
    assert {Path(place, "cgroup.procs").read_text() for place in group.places} == {"4000000"}
    assert group.pids() == [4_000_000]
    assert not group.is_empty()


def test_v1_attach_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = v1(tmp_path)[1]
    monkeypatch.setattr(cgroup_v1, "write", lambda *args: None)
    with pytest.raises(ProcessLookupError, match="not in its group"):
        group.attach(4_000_000)


def test_v1_without_optional_trees(tmp_path: Path) -> None:
    tree = cgroup_v1.probe("keeper", legacy(tmp_path, "memory pids"))
    assert not isinstance(tree, str)
    assert [reason.split(":")[0] for reason in tree.missing] == ["cpu", "cpuacct", "freezer"]
    group = tree.make_group("cell")
    group.limit(cpu_quota=1)
    assert group.cpu_time() is None


def test_v1_needs_memory_and_pids(tmp_path: Path) -> None:
    assert cgroup_v1.probe("keeper", legacy(tmp_path, "cpu,cpuacct")) == (
        "cgroup v1: memory: not mounted; pids: not mounted"
    )


def test_present_is_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: int = 0) -> None:
        raise OSError(30, "Read-only file system", path)

    root = legacy(tmp_path)
    monkeypatch.setattr(os, "mkdir", refuse)
    assert "Read-only file system" in str(cgroup_v1.probe("keeper", root))


@pytest.mark.parametrize("make", [v1, v2], ids=["v1", "v2"])
def test_nothing_is_left(make: object, tmp_path: Path) -> None:
    tree, group = v1(tmp_path) if make is v1 else v2(tmp_path)
    assert group.remove()
    assert tree.remove()
    assert not list(tmp_path.rglob("belljar*"))


@pytest.mark.parametrize("make", [v1, v2], ids=["v1", "v2"])
def test_belljar_stays_while_another_keeper_lives(make: object, tmp_path: Path) -> None:
    tree, group = v1(tmp_path) if make is v1 else v2(tmp_path)
    os.mkdir(f"{os.path.dirname(tree.place)}/other")
    assert group.remove()
    assert tree.remove()
    assert [path.name for path in tmp_path.rglob("belljar/*") if path.is_dir()] == ["other"]


def test_a_name_is_used_once(tmp_path: Path) -> None:
    tree, _ = v1(tmp_path)
    with pytest.raises(FileExistsError):
        tree.make_group("cell")


def test_v2_hands_controllers_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, own = unified(tmp_path, "/")
    (own / "cgroup.subtree_control").write_text("memory pids\n")
    written: list[tuple[str, str]] = []

    def keep(directory: str, name: str, text: str) -> None:
        assert name == "cgroup.subtree_control"
        written.append((directory.removeprefix(f"{own}"), text))
        with open(f"{directory}/{name}", "a") as file:
            file.write(f"{text} ")

    monkeypatch.setattr(cgroup_v2, "write", keep)
    tree = cgroup_v2.probe("keeper", root)
    assert not isinstance(tree, str)
    assert tree.place == f"{own}/belljar/keeper"
    assert written == [
        ("", "+cpu"),  # the others are on already
        ("/belljar", "+memory"),
        ("/belljar", "+pids"),
    ]


def test_v2_limits(tmp_path: Path) -> None:
    group = v2(tmp_path)[1]
    group.limit(memory=1 << 20, processes=9, cpu_quota=1.5)
    here = Path(group.directory)
    written = {name: (here / name).read_text() for name in ("memory.max", "memory.swap.max", "memory.oom.group")}
    assert written == {"memory.max": str(1 << 20), "memory.swap.max": "0", "memory.oom.group": "1"}
    assert (here / "pids.max").read_text() == "9"
    assert (here / "cpu.max").read_text() == "150000 100000"


def test_v2_usage(tmp_path: Path) -> None:
    group = v2(tmp_path)[1]
    assert group.usage() == GroupUsage(8192, 5, 3, 7)
    assert group.cpu_time() == (2.5, 1.0)
    (Path(group.directory) / "memory.peak").unlink()
    (Path(group.directory) / "pids.peak").unlink()
    assert group.usage()[:2] == (None, None)


def test_v2_kill_uses_the_file(tmp_path: Path) -> None:
    group = v2(tmp_path)[1]
    assert group.kill()
    assert (Path(group.directory) / "cgroup.kill").read_text() == "1"


def test_v2_kill_is_bounded(tmp_path: Path) -> None:
    group = v2(tmp_path)[1]
    (Path(group.directory) / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    assert not group.kill(within=0.01)
    assert not group.is_empty()


def test_v2_of_a_user_goes_up_to_what_is_divided_already(tmp_path: Path) -> None:
    root, own = unified(tmp_path, "/user.slice/app.slice/my.scope")
    (own / "cgroup.procs").write_text("123\n")
    (own.parent / "cgroup.subtree_control").write_text("memory pids\n")
    tree = cgroup_v2.probe("keeper", root)
    assert not isinstance(tree, str)
    assert tree.place == f"{own.parent}/belljar/keeper"


def test_v2_with_processes_moves_them_only_when_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, own = unified(tmp_path, "/my.scope")
    monkeypatch.setattr(cgroup_v2, "exists", lambda directory, name: name != "cgroup.type" and own.exists())
    (own / "cgroup.procs").write_text("123\n")
    (tmp_path / "unified/cgroup.controllers").write_text("")
    assert "holds processes itself" in str(cgroup_v2._ours(str(own), f"{tmp_path}/unified", False))

    def moving(directory: str, name: str, text: str) -> None:
        cgroup.write(directory, name, text)
        if name == "cgroup.procs":
            (own / name).write_text("")

    monkeypatch.setattr(cgroup_v2, "write", moving)
    assert cgroup_v2._ours(str(own), f"{tmp_path}/unified", True) is None
    assert (own / "belljar.rest/cgroup.procs").read_text() == "123"


def test_v2_needs_controllers(tmp_path: Path) -> None:
    root, own = unified(tmp_path, "/")
    (own / "cgroup.controllers").write_text("hugetlb\n")
    assert cgroup_v2.probe("keeper", root) == f"cgroup v2: {own} has no controller memory, pids"


def test_v2_not_mounted(tmp_path: Path) -> None:
    assert cgroup_v2.probe("keeper", legacy(tmp_path)) == "cgroup v2: not mounted"


def test_probe_takes_v1_where_v2_has_no_controllers(tmp_path: Path) -> None:
    tree = cgroup.probe("keeper", legacy(tmp_path))
    assert not isinstance(tree, str)
    assert tree.generation == 1


def test_probe_says_both_reasons(tmp_path: Path) -> None:
    assert cgroup.probe("keeper", host(tmp_path, "", "")) == (
        "cgroup v2: not mounted; cgroup v1: memory: not mounted; pids: not mounted"
    )


@pytest.mark.parametrize(
    ("place", "mounted", "path"),
    [
        ("/", "/", ""),
        ("/a/b", "/", "/a/b"),
        ("/docker/1", "/docker/1", ""),
        ("/docker/1/a", "/docker/1", "/a"),
        ("/docker/12", "/docker/1", ""),
        ("/../x", "/", ""),
        ("/", "/docker/1", ""),
    ],
)
def test_place_below_a_mount(place: str, mounted: str, path: str) -> None:
    assert below(place, mounted) == path
