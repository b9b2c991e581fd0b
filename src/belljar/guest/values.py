"""Values on their way out: as JSON where they are JSON, as displays like a notebook's."""

import base64
import json
from typing import Any

_LONGEST_DISPLAY = 4 << 20
_DEEPEST = 180
_MOST_BITS = 14_000  # Python itself reads and writes at most 4,300 digits
_METHODS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
}


def to_json(value: object) -> Any:
    """`value` as plain JSON data. TypeError or ValueError says what in it is not JSON."""
    return _plain(value, _DEEPEST)


def _plain(value: object, depth: int) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise ValueError("it has a number of more digits than JSON readers take")
        return int(value)
    if isinstance(value, float):
        json.dumps(value, allow_nan=False)
        return float(value)
    if depth == 0:
        raise ValueError(f"it is nested deeper than {_DEEPEST} levels")
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {_key(key): _plain(item, depth - 1) for key, item in value.items()}
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool) or key is None:
        return json.dumps(key)
    if isinstance(key, int | float):
        return json.dumps(key, allow_nan=False)
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")


def display(value: object) -> dict[str, Any] | None:
    """The MIME bundle of a value, None for None."""
    if value is None:
        return None
    bundle: dict[str, Any] = {}
    own = _ask(value, "_repr_mimebundle_")
    if isinstance(own, tuple):
        own = own[0]
    if isinstance(own, dict):
        bundle.update((str(kind), _content(data)) for kind, data in own.items())
    for method, kind in _METHODS.items():
        if kind not in bundle and (data := _ask(value, method)) is not None:
            bundle[kind] = _content(data)
    if "text/plain" not in bundle:
        bundle["text/plain"] = _repr(value)
    return {"data": {kind: data for kind, data in bundle.items() if data is not None}}


def _ask(value: object, method: str) -> Any:
    if isinstance(value, type):
        return None  # a class has the methods of its instances, unbound
    try:
        found = getattr(value, method, None)
        return found() if callable(found) else None
    except Exception:  # noqa: BLE001  a display that fails is no display, whatever it raises
        return None


def _content(data: object) -> Any:
    """A MIME type's data as JSON; what is not, or is too long, is left out."""
    if isinstance(data, bytes | bytearray):
        data = base64.b64encode(data).decode()
    try:
        plain = to_json(data)
    except (TypeError, ValueError):
        return None
    return plain if len(json.dumps(plain)) <= _LONGEST_DISPLAY else None


def _repr(value: object) -> str:
    try:
        text = repr(value)
    except Exception as broken:  # noqa: BLE001  the program's own __repr__ may raise anything
        text = f"<{type(value).__name__} whose repr() raised {type(broken).__name__}>"
    return text if len(text) <= _LONGEST_DISPLAY else text[:_LONGEST_DISPLAY] + " ..."
