"""What came of a run."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict, cast

from belljar.errors import UsageError
from belljar.limits import Limits, LimitsDict
from belljar.outcome import Outcome
from belljar.output import (
    Chunk,
    ChunkDict,
    Denial,
    DenialDict,
    Display,
    DisplayDict,
    ErrorDict,
    ErrorInfo,
    OutputFile,
    OutputFileDict,
    from_base64,
)
from belljar.quantities import FrozenMap, conform, format_time
from belljar.report import Report, ReportDict
from belljar.usage import Usage, UsageDict

OutcomeName: TypeAlias = Literal[
    "ok",
    "failed",
    "rejected",
    "crashed",
    "timed_out",
    "out_of_memory",
    "over_limit",
    "denied",
    "cancelled",
    "lost",
]


class ResultDict(TypedDict):
    """What came of a run. `stdout_bytes` is base64, and null where it is just the UTF-8 of `stdout`."""

    id: str
    outcome: OutcomeName
    ok: bool
    exit_code: int | None
    signal: int | None
    stdout: str
    stderr: str
    stdout_bytes: str | None
    stderr_bytes: str | None
    stdout_dropped: int
    stderr_dropped: int
    stdout_file: str | None
    stderr_file: str | None
    transcript: list[ChunkDict]
    value: Any
    has_value: bool
    error: ErrorDict | None
    displays: list[DisplayDict]
    files: dict[str, OutputFileDict]
    usage: UsageDict
    limits: LimitsDict
    limits_hit: list[str]
    report: ReportDict
    denials: list[DenialDict]
    index: int | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """What came of a run.

    `outcome`, `exit_code`, `signal`, `usage`, `limits_hit` and `report` are the host's word; output, `value`,
    `error`, `displays` and `files` are the code's. `limits` are those that were applied. `stdout_dropped`
    counts the bytes that were not kept, `stdout_file` names the file that has the whole stream, if there is
    one. Text is the UTF-8 of the bytes, with bad bytes replaced; whichever of the two is not given is made
    from the other. `index` is the place of the request in a batch.
    """

    id: str
    outcome: Outcome
    exit_code: int | None = None
    signal: int | None = None
    stdout: str = ""
    stderr: str = ""
    stdout_bytes: bytes = b""
    stderr_bytes: bytes = b""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    stdout_file: str | None = None
    stderr_file: str | None = None
    transcript: tuple[Chunk, ...] = ()
    value: Any = None
    has_value: bool = False
    error: ErrorInfo | None = None
    displays: tuple[Display, ...] = ()
    files: Mapping[str, OutputFile] = field(default_factory=FrozenMap)
    usage: Usage
    limits: Limits
    limits_hit: tuple[str, ...] = ()
    report: Report
    denials: tuple[Denial, ...] = ()
    index: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        for text, data in (("stdout", "stdout_bytes"), ("stderr", "stderr_bytes")):
            if not getattr(self, data):
                put(self, data, _encoded(getattr(self, text)))
            elif not getattr(self, text):
                put(self, text, getattr(self, data).decode(errors="replace"))
        put(self, "files", FrozenMap(self.files))
        for name, file in self.files.items():
            if file.name != name:
                raise UsageError.about(f"files[{name!r}].name", file.name, "the name under which it stands")

    @property
    def ok(self) -> bool:
        """Whether the code ran to its end with exit status 0."""
        return self.outcome is Outcome.OK

    def __repr__(self) -> str:
        text = self.stdout if len(self.stdout) <= 60 else self.stdout[:60] + "..."
        return f"<Result {self.outcome}, stdout {text!r}, wall {format_time(self.usage.wall)}>"

    def to_dict(self) -> ResultDict:
        """The JSON form, the same everywhere."""
        return {
            "id": self.id,
            "outcome": self.outcome.value,
            "ok": self.ok,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "stdout_bytes": _bytes_form(self.stdout, self.stdout_bytes),
            "stderr_bytes": _bytes_form(self.stderr, self.stderr_bytes),
            "stdout_dropped": self.stdout_dropped,
            "stderr_dropped": self.stderr_dropped,
            "stdout_file": self.stdout_file,
            "stderr_file": self.stderr_file,
            "transcript": [chunk.to_dict() for chunk in self.transcript],
            "value": self.value,
            "has_value": self.has_value,
            "error": self.error.to_dict() if self.error else None,
            "displays": [display.to_dict() for display in self.displays],
            "files": {name: file.to_dict() for name, file in self.files.items()},
            "usage": self.usage.to_dict(),
            "limits": self.limits.to_dict(),
            "limits_hit": list(self.limits_hit),
            "report": self.report.to_dict(),
            "denials": [denial.to_dict() for denial in self.denials],
            "index": self.index,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Result":
        """The result from its JSON form."""
        form = conform(ResultDict, data, "result")
        outcome = Outcome(form["outcome"])
        if form["ok"] != (outcome is Outcome.OK):
            raise UsageError.about("result.ok", form["ok"], f"what the outcome '{outcome}' says")
        if form["value"] is not None and not form["has_value"]:
            raise UsageError.about("result.has_value", False, "true where there is a value")
        plain = cast("dict[str, Any]", {name: form[name] for name in _PLAIN})  # type: ignore[literal-required]
        return cls(
            **plain,
            outcome=outcome,
            stdout_bytes=_bytes_of_form(form["stdout"], form["stdout_bytes"], "result.stdout_bytes"),
            stderr_bytes=_bytes_of_form(form["stderr"], form["stderr_bytes"], "result.stderr_bytes"),
            transcript=tuple(Chunk(**chunk) for chunk in form["transcript"]),
            error=ErrorInfo.of_form(form["error"]) if form["error"] else None,
            displays=tuple(Display(**display) for display in form["displays"]),
            files={
                name: OutputFile.of_form(name, file, f"result.files[{name!r}]") for name, file in form["files"].items()
            },
            usage=Usage.from_dict(form["usage"], path="result.usage"),
            limits=Limits.from_dict(form["limits"]),
            limits_hit=tuple(form["limits_hit"]),
            report=Report.from_dict(form["report"], path="result.report"),
            denials=tuple(Denial(**denial) for denial in form["denials"]),
        )


# The fields that are the same in JSON.
_PLAIN = (
    "id",
    "exit_code",
    "signal",
    "stdout",
    "stderr",
    "stdout_dropped",
    "stderr_dropped",
    "stdout_file",
    "stderr_file",
    "value",
    "has_value",
    "index",
)


def _encoded(text: str) -> bytes:
    # Text that was decoded from bytes has no lone surrogates, but a test's or a remote's may.
    return text.encode(errors="surrogatepass")


def _bytes_form(text: str, data: bytes) -> str | None:
    return None if data == _encoded(text) else base64.b64encode(data).decode()


def _bytes_of_form(text: str, form: str | None, path: str) -> bytes:
    return _encoded(text) if form is None else from_base64(form, path)
