"""Languages that are run by programs of the host: a table of what to call, the last step being the program itself."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from belljar.backends.base import Program
from belljar.errors import SetupError, Unsupported, UsageError
from belljar.plan import CLEAN_ENVIRONMENT
from belljar.request import CallRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from belljar.files import Input
    from belljar.request import RunRequest

Step = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One language: `{file}` is the source, `{out}` a file to be made; a step that fails before the last rejects."""

    name: str
    suffix: str
    steps: tuple[Step, ...]
    package: str

    def program(
        self, request: RunRequest | CallRequest, inputs: tuple[Input, ...], environment: Mapping[str, str]
    ) -> Program:
        """The program that the guest is to run."""
        if isinstance(request, CallRequest):
            raise Unsupported(backend=self.name, feature="calls: the source is run as a program")
        filename = request.filename or f"main{self.suffix}"
        if "/" in filename or filename in ("workspace", "tmp", "shm", "program"):
            raise UsageError.about("filename", filename, f"a plain file name (like main{self.suffix})")
        tool = self.steps[0][0]
        if shutil.which(tool, path=CLEAN_ENVIRONMENT["PATH"]) is None:
            raise SetupError(
                f"{self.name} needs the program {tool!r}",
                layer="language",
                cure=f"apt-get install {self.package} (Debian, Ubuntu)",
            )
        *before, last = self.steps
        return Program(
            kind="execute",
            source=request.source.encode(),
            filename=filename,
            environment=environment,
            inputs=inputs,
            steps=(*before, (*last, *request.args)),
        )


def bash() -> Command:
    """GNU Bash."""
    return Command("bash", ".sh", (("bash", "{file}"),), "bash")


def sh() -> Command:
    """The shell of the host."""
    return Command("sh", ".sh", (("sh", "{file}"),), "dash")


def javascript() -> Command:
    """JavaScript by Node."""
    return Command("javascript", ".js", (("node", "{file}"),), "nodejs")


def c() -> Command:
    """C by the compiler of the host."""
    return Command("c", ".c", (("cc", "-O1", "-o", "{out}", "{file}", "-lm"), ("{out}",)), "gcc")
