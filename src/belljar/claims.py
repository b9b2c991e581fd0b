"""What the code says of itself, taken for no more than that: whatever shape it has, a model comes out, or nothing."""

from __future__ import annotations

from typing import Any

from belljar.output import Display, ErrorInfo, Frame

_MOST = 1000


def error_of(content: dict[str, Any] | None) -> ErrorInfo | None:
    """The exception in a `rejected` or `answer` claim."""
    error = (content or {}).get("error")
    if not isinstance(error, dict):
        return None
    name = error.get("name")
    return ErrorInfo(
        type=_text(error.get("type")),
        message=_text(error.get("message")),
        args=tuple(_text(arg) for arg in _list(error.get("args"))),
        name=name if isinstance(name, str) else None,
        traceback=_text(error.get("traceback")),
        frames=tuple(_frame(frame) for frame in _list(error.get("frames")) if isinstance(frame, dict)),
    )


def displays_of(content: dict[str, Any] | None) -> tuple[Display, ...]:
    """The displays in an `answer` claim."""
    return tuple(
        Display(data=display["data"])
        for display in _list((content or {}).get("displays"))
        if isinstance(display, dict) and isinstance(display.get("data"), dict)
    )


def _frame(frame: dict[str, Any]) -> Frame:
    line = frame.get("line")
    return Frame(
        file=_text(frame.get("file")),
        line=line if isinstance(line, int) and not isinstance(line, bool) else 0,
        function=_text(frame.get("function")),
        text=_text(frame.get("text")),
    )


def _list(value: Any) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
