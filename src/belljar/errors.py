"""Every exception that belljar raises.

    BelljarError
    ├── UsageError (also a ValueError)    the caller's mistake: a wrong value, name or order of calls
    │   └── PolicyError                   the same, in a field of Policy or Limits
    ├── SetupError                        this host cannot do what was asked: names the layer and the cure
    │   └── MissingExtra                  a package of an extra is not installed
    ├── Unsupported                       the chosen backend cannot do this at all
    └── ProtocolError                     a process of ours said something that it must not say

What the code in a cell does is never an exception: it is a `Result`.
"""

import errno as errno_names
import os
from collections.abc import Iterable
from typing import Any, Self

_SHOWN = 60
_PLAIN = (str, int, float, bool, type(None))


def shown(value: object) -> str:
    """The value as an error message shows it: its repr, cut to a readable length."""
    if isinstance(value, (str, bytes)) and len(value) > _SHOWN:
        value = value[: _SHOWN + 1]
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an int of too many digits, a list inside itself
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _rebuild(cls: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    return cls.__new__(cls, *args)


class BelljarError(Exception):
    """The base of all exceptions of belljar."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with `args` alone, which keyword-only parameters refuse.
        return _rebuild, (type(self), self.args), self.__dict__


class UsageError(BelljarError, ValueError):
    """A mistake of the caller, with the field, its value and what is accepted, where there is one field.

    `value` is the value itself if it is a plain one, else its repr, so that the error can always be pickled.
    """

    def __init__(
        self, message: str, *, field: str | None = None, value: object = None, accepted: str | None = None
    ) -> None:
        super().__init__(message)
        self.field = field
        self.value = value if type(value) in _PLAIN else shown(value)
        self.accepted = accepted

    @classmethod
    def about(cls, field: str, value: object, accepted: str) -> Self:
        """The error for a wrong value; `accepted` continues the sentence after "give"."""
        message = f"`{field}` is {shown(value)}: give {accepted}."
        return cls(message, field=field, value=value, accepted=accepted)

    @classmethod
    def unknown(cls, path: str, name: object, known: Iterable[str]) -> Self:
        """The error for a name that is not one of the known ones."""
        from difflib import get_close_matches

        names = list(known)
        near = get_close_matches(name[:100], names, n=1) if isinstance(name, str) else []
        guess = f" Did you mean '{near[0]}'?" if near else ""
        accepted = ", ".join(names) or "nothing"
        message = f"`{path}` has no {shown(name)}: it takes {accepted}.{guess}"
        field = f"{path}.{name}" if isinstance(name, str) else path
        return cls(message, field=field, value=name, accepted=accepted)


class PolicyError(UsageError):
    """A wrong value in a field of `Policy` or `Limits`."""


class SetupError(BelljarError):
    """This host cannot do what was asked. `sentence` says what failed, without a full stop."""

    def __init__(self, sentence: str, *, layer: str, errno: int | None = None, cure: str | None = None) -> None:
        reason = ""
        if errno is not None:
            reason = f" ({errno_names.errorcode.get(errno, f'errno {errno}')}: {os.strerror(errno)})"
        # A cure often is a command to type, so no full stop follows it.
        super().__init__(f"{layer}: {sentence}{reason}." + (f" Cure: {cure}" if cure else ""))
        self.layer = layer
        self.errno = errno
        self.cure = cure


class MissingExtra(SetupError):  # noqa: N818 (it reads as what it is)
    """A package that belongs to an extra of belljar is not installed."""

    def __init__(self, sentence: str, *, extra: str, layer: str = "packages") -> None:
        super().__init__(sentence, layer=layer, cure=f"pip install 'belljar[{extra}]'")
        self.extra = extra


class Unsupported(BelljarError):  # noqa: N818
    """The backend cannot do this, on any host. `feature` is a noun, like "sessions"."""

    def __init__(self, *, backend: str, feature: str, instead: str | None = None) -> None:
        hint = f": {instead}" if instead else ""
        super().__init__(f"The backend '{backend}' does not support {feature}{hint}.")
        self.backend = backend
        self.feature = feature


class ProtocolError(BelljarError):
    """A process of ours, or whoever speaks in its place, broke the protocol."""
