"""The policy: what it takes, what it refuses, and that it travels."""

import copy
import json
import pickle
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belljar.errors import PolicyError
from belljar.limits import Limits
from belljar.policy import POLICY_NAMES, Mount, Policy, PolicyChanges, PolicyDict, PolicyInput
from belljar.report import Level

FULL = Policy(
    limits=Limits(memory="1G", cpu="2s"),
    network="host",
    mounts=[Mount(source="/usr/share/data", target="/data"), Mount(source="/srv", target="/out", mode="rw")],
    env={"TOKEN": "x=y", "EMPTY": ""},
    hostname="jar-1.example",
    level="full",
    overflow="stop",
)


def test_defaults() -> None:
    form: Any = Policy().to_dict()
    assert form == {
        "limits": Limits().to_dict(),
        "network": "none",
        "mounts": [],
        "env": {},
        "hostname": "belljar",
        "level": "rootless",
        "overflow": "drop",
        "trace_denials": False,
    }


def test_names_agree() -> None:
    for form in (PolicyDict, PolicyInput, PolicyChanges):
        assert tuple(form.__annotations__) == POLICY_NAMES


@pytest.mark.parametrize("policy", [Policy(), FULL], ids=["default", "full"])
def test_round_trips(policy: Any) -> None:
    again = Policy.from_dict(json.loads(json.dumps(policy.to_dict())))
    for clone in (again, pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy), policy.replace()):
        assert clone == policy
        assert hash(clone) == hash(policy)
        assert type(clone.level) is Level


def test_from_part_of_the_form() -> None:
    policy = Policy.from_dict({"limits": {"memory": "1G"}, "mounts": [{"source": "/a", "target": "/b"}]})
    assert policy.limits == Limits(memory="1G")
    assert policy.mounts == (Mount(source="/a", target="/b", mode="ro"),)
    assert policy.level is Level.ROOTLESS


def test_replace() -> None:
    policy = FULL.replace(level="none", env={})
    assert policy.level is Level.NONE
    assert policy.env == {}
    assert policy.mounts == FULL.mounts
    with pytest.raises(PolicyError, match="Did you mean 'network'"):
        FULL.replace(netwrk="none")  # type: ignore[call-arg]


def test_env_cannot_be_changed_from_outside() -> None:
    env = {"A": "1"}
    policy = Policy(env=env)
    env["A"] = "2"
    assert policy.env == {"A": "1"}
    with pytest.raises(TypeError):
        policy.env["A"] = "2"  # type: ignore[index]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"limits": "512M"}, "policy.limits"),
        ({"limits": {}}, "policy.limits"),
        ({"network": "all"}, "policy.network"),
        ({"network": None}, "policy.network"),
        ({"level": "strong"}, "policy.level"),
        ({"level": None}, "policy.level"),
        ({"overflow": "keep"}, "policy.overflow"),
        ({"env": ["A"]}, "policy.env"),
        ({"env": {"": "x"}}, "policy.env (a name)"),
        ({"env": {"A=B": "x"}}, "policy.env (a name)"),
        ({"env": {"A\0": "x"}}, "policy.env (a name)"),
        ({"env": {1: "x"}}, "policy.env (a name)"),
        ({"env": {"\ud800": "x"}}, "policy.env (a name)"),
        ({"env": {"A": "x\0"}}, "policy.env['A']"),
        ({"env": {"A": 1}}, "policy.env['A']"),
        ({"env": {"A": "\ud800"}}, "policy.env['A']"),
        ({"mounts": "/a:/b"}, "policy.mounts"),
        ({"mounts": 1}, "policy.mounts"),
        ({"mounts": [("/a", "/b")]}, "policy.mounts[0]"),
        (
            {"mounts": [Mount(source="/a", target="/x"), Mount(source="/b", target="//x/")]},
            "policy.mounts[1].target",
        ),
        ({"hostname": ""}, "policy.hostname"),
        ({"hostname": "-a"}, "policy.hostname"),
        ({"hostname": "a-"}, "policy.hostname"),
        ({"hostname": "a..b"}, "policy.hostname"),
        ({"hostname": "a_b"}, "policy.hostname"),
        ({"hostname": "j\u00e4r"}, "policy.hostname"),
        ({"hostname": "a" * 64}, "policy.hostname"),
        ({"hostname": "a" * 60 + ".bcdef"}, "policy.hostname"),
        ({"hostname": 5}, "policy.hostname"),
    ],
)
def test_refused(change: Any, field: Any) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy(**change)
    assert caught.value.field == field


def test_a_secret_value_is_not_in_the_message() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy(env={"TOKEN": "hunter2\0"})
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in str(vars(caught.value))


@pytest.mark.parametrize("hostname", ["a", "A1", "1", "a-b.c-d", "a" * 63, "a" * 60 + ".bcd"])
def test_hostname(hostname: Any) -> None:
    assert Policy(hostname=hostname).hostname == hostname


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"netwrk": "none"}, "`policy` has no 'netwrk': .*Did you mean 'network'"),
        ({"limits": {"memry": 1}}, "`limits` has no 'memry'"),
        ({"limits": None}, "`limits` is None"),
        ({"mounts": {}}, r"`policy\.mounts` is"),
        ({"mounts": [{"source": "/a"}]}, r"`policy\.mounts\[0\]\.target` is missing"),
        ({"mounts": [{"source": "/a", "target": "/b", "ro": 1}]}, r"`policy\.mounts\[0\]` has no 'ro'"),
        ({"env": None}, r"`policy\.env` is None"),
        (None, "`policy` is None"),
    ],
)
def test_wrong_form(data: Any, message: Any) -> None:
    with pytest.raises(PolicyError, match=message):
        Policy.from_dict(data)


@pytest.mark.parametrize(
    ("path", "clean"),
    [("/a", "/a"), ("//a//b/", "/a/b"), ("/a/./b", "/a/b"), ("/..a", "/..a")],
)
def test_mount_paths(path: Any, clean: Any) -> None:
    mount = Mount(source=PurePosixPath(path), target=path)
    assert (mount.source, mount.target, mount.mode) == (clean, clean, "ro")


@pytest.mark.parametrize("path", ["", "a", "./a", "/a/../b", "/..", "/a\0", b"/a", None, "/\ud800"])
@pytest.mark.parametrize("name", ["source", "target"])
def test_mount_path_refused(name: Any, path: Any) -> None:
    paths = {"source": "/a", "target": "/b"} | {name: path}
    with pytest.raises(PolicyError) as caught:
        Mount(**paths)
    assert caught.value.field == f"mount.{name}"


@pytest.mark.parametrize("change", [{"target": "/"}, {"target": "//."}, {"mode": "w"}, {"mode": None}])
def test_mount_refused(change: Any) -> None:
    with pytest.raises(PolicyError):
        Mount(**({"source": "/a", "target": "/b"} | change))
    assert Mount(source="/", target="/host").source == "/"


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_env_is_taken_as_it_is_or_refused(env: Any) -> None:
    bad = any(
        not name or "=" in name or "\0" in name + value or any("\ud800" <= char <= "\udfff" for char in name + value)
        for name, value in env.items()
    )
    try:
        policy = Policy(env=env)
    except PolicyError:
        assert bad
    else:
        assert not bad
        assert policy.env == env
