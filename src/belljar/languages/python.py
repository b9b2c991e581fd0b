"""Python, run by the guest in the interpreter that the zygote has forked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belljar.backends.base import Program
from belljar.errors import UsageError
from belljar.request import CallRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from belljar.files import Input
    from belljar.request import RunRequest

DEFAULT_FILENAME = "main.py"


class Python:
    """Source that is executed as `__main__`, or whose functions are called."""

    name = "python"

    def program(
        self, request: RunRequest | CallRequest, inputs: tuple[Input, ...], environment: Mapping[str, str]
    ) -> Program:
        filename = request.filename or DEFAULT_FILENAME
        if "/" in filename or filename in ("workspace", "tmp"):
            raise UsageError.about("filename", filename, "a plain file name (like main.py)")
        call = None
        if isinstance(request, CallRequest):
            call = {"function": request.function, "kwargs": request.kwargs, "init": request.init}
        return Program(
            kind="run" if call is None else "call",
            source=request.source.encode(),
            filename=filename,
            args=() if isinstance(request, CallRequest) else request.args,
            environment=environment,
            inputs=inputs,
            call=call,
        )
