"""`belljar doctor` over hosts that are made up: its table, its JSON, its exit code."""

import json

import pytest

from belljar.cli import doctor
from belljar.linux import support
from belljar.linux.support import LAYERS, NEEDS, Finding, Support

PROFILE = "as root, write this:\nprofile x {\n  userns,\n}"


def host(**missing: Finding) -> Support:
    """A host where all works but this."""
    bad = {finding.layer: finding for finding in missing.values()}
    return Support(tuple(bad.get(layer, Finding(layer, True, f"by {layer}")) for layer in LAYERS))


GROUPS = Finding("control groups", False, "", "cgroup v2: not mounted", None, "run it as root")
USERNS = Finding("user namespace", False, "", "AppArmor keeps it", 13, PROFILE)
MOUNTS = Finding("mounts", False, "", "not tried, since `user namespace` fails", None, "cure that first")
SECCOMP = Finding("seccomp", False, "", "no filter", 2, "use x86_64")
KSM = Finding("page merging", False, "", "timing tells", None, "echo 2 > ksm")

HOSTS = {
    "full": host(),
    "full with a note": host(a=KSM),
    "rootless": host(a=GROUPS),
    "reduced": host(a=USERNS, b=MOUNTS, c=GROUPS),
    "none": host(a=SECCOMP),
}


def asked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str, as_json: bool
) -> tuple[int, str]:
    monkeypatch.setattr(support, "probe", lambda: HOSTS[name])
    code = doctor.main(doctor.parser().read(["--json"] if as_json else []))
    return code, capfd.readouterr().out


@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("as_json", [False, True])
def test_exit_code_and_level(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str, as_json: bool
) -> None:
    code, out = asked(monkeypatch, capfd, name, as_json)
    level = name.split()[0]
    assert code == (0 if level in ("full", "rootless") else 1)
    if as_json:
        assert json.loads(out)["level"] == level
    else:
        assert out.splitlines()[-1].startswith(f"Level `{level}`: ")
    assert "\x1b" not in out


def test_table(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    out = asked(monkeypatch, capfd, "reduced", as_json=False)[1]
    lines = out.splitlines()
    assert lines[0].split() == ["layer", "state", "by,", "or", "why", "not"]
    assert [line[:17].strip() for line in lines[1 : len(LAYERS) + 1]] == list(LAYERS)
    assert "user namespace   missing  AppArmor keeps it (EACCES)" in lines
    assert "landlock         ok       by landlock" in lines
    assert "cure of user namespace: as root, write this:\n    profile x {\n      userns,\n    }\n" in out
    assert "cure of control groups: run it as root\n\nLevel" in out
    assert "cure of mounts" not in out


def test_a_note_has_a_cure_too(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    out = asked(monkeypatch, capfd, "full with a note", as_json=False)[1]
    assert "page merging     note     timing tells\n" in out
    assert "cure of page merging: echo 2 > ksm\n" in out


def test_json(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    document = json.loads(asked(monkeypatch, capfd, "reduced", as_json=True)[1])
    assert set(document) == {"level", "meaning", "layers"}
    layers = {layer["layer"]: layer for layer in document["layers"]}
    assert list(layers) == list(LAYERS)
    assert layers["user namespace"] == {
        "layer": "user namespace",
        "state": "missing",
        "by": "",
        "reason": "AppArmor keeps it",
        "errno": 13,
        "cure": PROFILE,
    }
    assert layers["pidfd"] == {
        "layer": "pidfd",
        "state": "ok",
        "by": "by pidfd",
        "reason": "",
        "errno": None,
        "cure": None,
    }


def test_every_column_is_wide_enough() -> None:
    assert max(map(len, LAYERS)) < 17
    assert all(layer for layers in NEEDS.values() for layer in layers)
