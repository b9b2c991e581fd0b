"""What a run is allowed: limits, mounts, network, environment."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Unpack, cast

from belljar.errors import PolicyError, UsageError
from belljar.limits import Limits, LimitsDict, LimitsInput
from belljar.quantities import FrozenMap, check_choice, check_keys
from belljar.report import Level, LevelName

Mode: TypeAlias = Literal["ro", "rw"]
Network: TypeAlias = Literal["none", "host"]
Overflow: TypeAlias = Literal["drop", "stop"]


class MountDict(TypedDict):
    """A directory or file of the host that a run can see."""

    source: str
    target: str
    mode: Mode


class PolicyDict(TypedDict):
    """What a run is allowed, in full."""

    limits: LimitsDict
    network: Network
    mounts: list[MountDict]
    env: dict[str, str]
    hostname: str
    level: LevelName
    overflow: Overflow
    trace_denials: bool


class MountInput(TypedDict):
    """A directory or file of the host that a run can see; read-only unless `mode` says "rw"."""

    source: str
    target: str
    mode: NotRequired[Mode]


class PolicyInput(TypedDict, total=False):
    """What a run is allowed, as it may be written: what is missing has its default."""

    limits: LimitsInput
    network: Network
    mounts: list[MountInput]
    env: dict[str, str]
    hostname: str
    level: LevelName
    overflow: Overflow
    trace_denials: bool


class PolicyChanges(TypedDict, total=False):
    """What `Policy.replace` takes."""

    limits: Limits
    network: Network
    mounts: Iterable["Mount"]
    env: Mapping[str, str]
    hostname: str
    level: Level | LevelName
    overflow: Overflow
    trace_denials: bool


@dataclass(frozen=True, slots=True, init=False)
class Mount:
    """A directory or file of the host at `source`, seen at `target` in the cell; both are absolute paths."""

    source: str
    target: str
    mode: Mode

    def __init__(self, *, source: str | os.PathLike[str], target: str, mode: Mode = "ro") -> None:
        put = object.__setattr__
        put(self, "source", _check_path("mount.source", source))
        put(self, "target", _check_path("mount.target", target))
        put(self, "mode", check_choice("mount.mode", mode, ("ro", "rw"), error=PolicyError))
        if self.target == "/":
            raise PolicyError.about("mount.target", target, "a path below / (the root is the cell's own)")

    def to_dict(self) -> MountDict:
        """The JSON form."""
        return {"source": self.source, "target": self.target, "mode": self.mode}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, path: str = "mount") -> "Mount":
        """The mount from its JSON form."""
        known = ("source", "target", "mode")
        return cls(**check_keys(path, data, known, needed=("source", "target"), error=PolicyError))


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """What a run is allowed.

    `level` is the floor: on a host that gives less, a run is refused with a `SetupError`. `overflow` says
    what happens to a run that prints more than `limits.output`: the rest is dropped, or the run is stopped.
    `trace_denials` has refused system calls counted, in `Result.denials`; each of them takes longer then.
    `env` is added to the small environment that every cell has; it is an immutable mapping.
    """

    limits: Limits
    network: Network
    mounts: tuple[Mount, ...]
    env: Mapping[str, str]
    hostname: str
    level: Level
    overflow: Overflow
    trace_denials: bool

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        network: Network = "none",
        mounts: Iterable[Mount] = (),
        env: Mapping[str, str] | None = None,
        hostname: str = "belljar",
        level: Level | LevelName = Level.ROOTLESS,
        overflow: Overflow = "drop",
        trace_denials: bool = False,
    ) -> None:
        if not isinstance(limits, (Limits, type(None))):
            raise PolicyError.about("policy.limits", limits, "a Limits object")
        put = object.__setattr__
        put(self, "limits", limits or Limits())
        put(self, "network", check_choice("policy.network", network, ("none", "host"), error=PolicyError))
        put(self, "mounts", _check_mounts(mounts))
        put(self, "env", check_env("policy.env", {} if env is None else env, error=PolicyError))
        put(self, "hostname", _check_hostname(hostname))
        put(self, "level", Level(check_choice("policy.level", level, list(Level), error=PolicyError)))
        put(self, "overflow", check_choice("policy.overflow", overflow, ("drop", "stop"), error=PolicyError))
        if not isinstance(trace_denials, bool):
            raise PolicyError.about("policy.trace_denials", trace_denials, "True or False")
        put(self, "trace_denials", trace_denials)

    def replace(self, **changes: Unpack[PolicyChanges]) -> "Policy":
        """This policy with some fields changed."""
        now: dict[str, Any] = {name: getattr(self, name) for name in POLICY_NAMES}
        return Policy(**check_keys("policy", now | changes, POLICY_NAMES, error=PolicyError))

    def to_dict(self) -> PolicyDict:
        """The JSON form."""
        return {
            "limits": self.limits.to_dict(),
            "network": self.network,
            "mounts": [mount.to_dict() for mount in self.mounts],
            "env": dict(self.env),
            "hostname": self.hostname,
            "level": self.level.value,
            "overflow": self.overflow,
            "trace_denials": self.trace_denials,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Policy":
        """The policy from its JSON form, or from any part of it: what is missing has its default."""
        given = dict(check_keys("policy", data, POLICY_NAMES, error=PolicyError))
        if "limits" in given:
            given["limits"] = Limits.from_dict(given["limits"])
        if "mounts" in given:
            mounts = given["mounts"]
            if not isinstance(mounts, (list, tuple)):
                raise PolicyError.about("policy.mounts", mounts, "a list of mounts")
            given["mounts"] = [
                Mount.from_dict(item, path=f"policy.mounts[{index}]") for index, item in enumerate(mounts)
            ]
        if "env" in given and given["env"] is None:
            raise PolicyError.about("policy.env", None, "a mapping")
        return cls(**given)


POLICY_NAMES: tuple[str, ...] = tuple(field.name for field in fields(Policy))


def is_utf8(text: str) -> bool:
    """Whether the text can be written as UTF-8 (lone surrogates cannot)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_env(field: str, env: object, *, error: type[UsageError] = UsageError) -> FrozenMap[str, str]:
    """Environment variables, if the kernel can take them as they are."""
    if not isinstance(env, Mapping):
        raise error.about(field, env, "a mapping of names to values")
    for name, value in env.items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name or not is_utf8(name):
            raise error.about(f"{field} (a name)", name, "a string without '=' and NUL")
        if not isinstance(value, str) or "\0" in value or not is_utf8(value):
            # Values often are secrets, and messages end in logs.
            raise error.about(f"{field}[{name!r}]", f"<{type(value).__name__}>", "a string without NUL")
    return FrozenMap(env)


def _check_path(field: str, value: object) -> str:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    accepted = "an absolute path without '..'"
    if not isinstance(path, str) or not path.startswith("/") or "\0" in path or not is_utf8(path):
        raise PolicyError.about(field, value, accepted)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise PolicyError.about(field, value, accepted)
    return "/" + "/".join(parts)


def _check_mounts(value: object) -> tuple[Mount, ...]:
    accepted = "a list of Mount objects"
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise PolicyError.about("policy.mounts", value, accepted)
    mounts = tuple(cast("Iterable[object]", value))
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        if not isinstance(mount, Mount):
            raise PolicyError.about(f"policy.mounts[{index}]", mount, "a Mount object")
        if mount.target in seen:
            raise PolicyError.about(f"policy.mounts[{index}].target", mount.target, "each target once")
        seen.add(mount.target)
    return cast("tuple[Mount, ...]", mounts)


def _check_hostname(value: object) -> str:
    if isinstance(value, str) and len(value) <= 64 and value.isascii():
        labels = value.split(".")
        if all(
            0 < len(label) <= 63 and label.replace("-", "a").isalnum() and "-" not in (label[0], label[-1])
            for label in labels
        ):
            return value
    raise PolicyError.about("policy.hostname", value, "letters, digits and inner hyphens, at most 64 (like belljar)")
