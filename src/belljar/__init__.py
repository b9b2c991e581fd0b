"""belljar runs untrusted code under glass: fresh, single-use cells, and results that the host decides.

import belljar

result = belljar.run("print('hi'); 6 * 7")
result.outcome, result.stdout, result.value
"""

from typing import TYPE_CHECKING

from belljar.version import __version__

# The public names, and where each is defined. They are imported at their first use.
_HOME = {
    # Run
    "run": "shortcuts",
    "call": "shortcuts",
    "map": "shortcuts",
    "arun": "shortcuts",
    "acall": "shortcuts",
    "amap": "shortcuts",
    "Sandbox": "sandbox",
    "AsyncSandbox": "sandbox",
    # Ask
    "RunRequest": "request",
    "CallRequest": "request",
    "Policy": "policy",
    "Limits": "limits",
    "Mount": "policy",
    "Level": "report",
    # Results
    "Result": "result",
    "Outcome": "outcome",
    "Usage": "usage",
    "Report": "report",
    "Layer": "report",
    "LayerState": "report",
    "ErrorInfo": "output",
    "Frame": "output",
    "Display": "output",
    "Chunk": "output",
    "OutputFile": "output",
    "Denial": "output",
    "Output": "events",
    "Sample": "events",
    "Finished": "events",
    # Errors
    "BelljarError": "errors",
    "UsageError": "errors",
    "PolicyError": "errors",
    "SetupError": "errors",
    "MissingExtra": "errors",
    "Unsupported": "errors",
    "ProtocolError": "errors",
}

__all__ = [
    "AsyncSandbox",
    "BelljarError",
    "CallRequest",
    "Chunk",
    "Denial",
    "Display",
    "ErrorInfo",
    "Finished",
    "Frame",
    "Layer",
    "LayerState",
    "Level",
    "Limits",
    "MissingExtra",
    "Mount",
    "Outcome",
    "Output",
    "OutputFile",
    "Policy",
    "PolicyError",
    "ProtocolError",
    "Report",
    "Result",
    "RunRequest",
    "Sample",
    "Sandbox",
    "SetupError",
    "Unsupported",
    "Usage",
    "UsageError",
    "__version__",
    "acall",
    "amap",
    "arun",
    "call",
    "map",
    "run",
]

if TYPE_CHECKING:
    from belljar.errors import (
        BelljarError,
        MissingExtra,
        PolicyError,
        ProtocolError,
        SetupError,
        Unsupported,
        UsageError,
    )
    from belljar.events import Finished, Output, Sample
    from belljar.limits import Limits
    from belljar.outcome import Outcome
    from belljar.output import Chunk, Denial, Display, ErrorInfo, Frame, OutputFile
    from belljar.policy import Mount, Policy
    from belljar.report import Layer, LayerState, Level, Report
    from belljar.request import CallRequest, RunRequest
    from belljar.result import Result
    from belljar.sandbox import AsyncSandbox, Sandbox
    from belljar.shortcuts import acall, amap, arun, call, map, run  # noqa: A004
    from belljar.usage import Usage
else:

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module 'belljar' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"belljar.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
