"""An exception as data: what it is, and the frames of the user's code, without ours."""

import sys
import traceback
from typing import Any

_MOST_FRAMES = 200
_MOST_ARGUMENTS = 40
_LONGEST_TEXT = 100_000
_LONGEST_LINE = 1_000


def describe(error: BaseException) -> dict[str, Any]:
    """The JSON form of an exception."""
    hide_guest(error)
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "type": type(error).__qualname__,
        "message": text_of(error)[:_LONGEST_TEXT],
        "args": [text_of(arg)[:_LONGEST_TEXT] for arg in error.args[:_MOST_ARGUMENTS]],
        "name": _name(error),
        "traceback": _format(error)[:_LONGEST_TEXT],
        "frames": [
            {
                "file": frame.filename,
                "line": frame.lineno or 0,
                "function": frame.name,
                "text": frame.line or "",
            }
            for frame in frames[-_MOST_FRAMES:]
        ],
    }


def show(error: BaseException) -> None:
    """Print it on stderr as the interpreter would, by the program's own excepthook if it has set one."""
    hide_guest(error)
    if sys.excepthook is sys.__excepthook__:
        print(_format(error), end="", file=sys.stderr)
        return
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as broken:  # noqa: BLE001  the program's own hook may raise anything
        hide_guest(broken)
        parts = ("Error in sys.excepthook:\n", _format(broken), "\nOriginal exception was:\n", _format(error))
        print(*parts, sep="", end="", file=sys.stderr)


def hide_guest(error: BaseException) -> None:
    """Take our own frames off the top of the traceback."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__package__") == __package__:
        trace = trace.tb_next
    error.__traceback__ = trace


def _format(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except BaseException as broken:  # noqa: BLE001  the program's own __str__ or __repr__ may raise anything
        return f"{type(error).__qualname__} (and showing it raised {type(broken).__qualname__})\n"


def text_of(value: object) -> str:
    """What str() says, whatever it raises."""
    try:
        return str(value)
    except BaseException as broken:  # noqa: BLE001  as above
        return f"<{type(value).__qualname__} whose str() raised {type(broken).__qualname__}>"


def _name(error: BaseException) -> str | None:
    try:
        name = getattr(error, "name", None)
    except BaseException:  # noqa: BLE001  as above
        return None
    return name if isinstance(name, str) else None
