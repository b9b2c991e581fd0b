"""Who takes part: belljar, a bare interpreter, and each peer that is installed here. All of them do the same work."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import ExitStack

    from belljar.sandbox import Sandbox

Run = Callable[[str], str]
"""Runs a Python program from nothing to its end; returns what it printed."""
_Open = Callable[["ExitStack", tuple[str, ...]], Run]

IMAGE = "belljar-bench"  # for docker: any image of that name with a python3
_SYSTEM_PYTHON = "/usr/bin/python3"


@dataclass(frozen=True)
class Contestant:
    """One way to run a program. `open` prepares it, and may put what has to be closed on the stack."""

    name: str
    title: str
    needs: str
    """What has to be there: `program:NAME`, `module:NAME`, `image:NAME`, or nothing."""
    open: _Open
    """Takes the modules that may be imported in advance, where there is a way to do so."""
    preloads: bool = False
    together: bool = True
    """Whether several threads can use it at a time."""

    def lacking(self) -> str | None:
        """Why it cannot take part, or None."""
        kind, _, what = self.needs.partition(":")
        if kind == "program" and not shutil.which(what):
            return f"{what} is not installed"
        if kind == "module" and importlib.util.find_spec(what) is None:
            return f"the package {what} is not installed"
        if kind == "image":
            return _no_image(what)
        return None


def _no_image(name: str) -> str | None:
    if not shutil.which("docker"):
        return "docker is not installed"
    looked = subprocess.run(["docker", "image", "inspect", name], capture_output=True, text=True, check=False)
    return None if looked.returncode == 0 else f"docker has no image {name}: see scripts/bench --help"


def _command(*words: str) -> _Open:
    """A command that takes the program as its last word."""

    def start(_stack: ExitStack, _preload: tuple[str, ...]) -> Run:
        def run(program: str) -> str:
            done = subprocess.run(
                [*words, program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=120
            )
            return done.stdout

        return run

    return start


def _belljar(**options: Any) -> _Open:
    def start(stack: ExitStack, preload: tuple[str, ...]) -> Run:
        from belljar.sandbox import Sandbox

        box: Sandbox = stack.enter_context(Sandbox(preload=preload, **options))

        def run(program: str) -> str:
            result = box.run(program)
            if not result.ok:
                raise RuntimeError(f"{result.outcome}: {result.stderr[-500:]}")
            return result.stdout

        return run

    return start


def _sandlock(_stack: ExitStack, _preload: tuple[str, ...]) -> Run:
    from sandlock import Sandbox  # type: ignore[import-not-found]

    places = [place for place in ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/dev") if os.path.exists(place)]

    def run(program: str) -> str:
        printed = Sandbox(fs_readable=places).run([_SYSTEM_PYTHON, "-c", program]).stdout
        return str(printed.decode() if isinstance(printed, bytes) else printed)

    return run


def _docker_exec(stack: ExitStack, _preload: tuple[str, ...]) -> Run:
    started = subprocess.run(
        ["docker", "run", "--rm", "--detach", "--network=none", IMAGE, "sleep", "100000"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    container = started.stdout.strip()
    stack.callback(subprocess.run, ["docker", "kill", container], capture_output=True, check=False)
    return _command("docker", "exec", container, "python3", "-c")(stack, ())


def _jupyter(stack: ExitStack, _preload: tuple[str, ...]) -> Run:
    from jupyter_client.manager import start_new_kernel  # type: ignore[import-not-found]

    manager, client = start_new_kernel(kernel_name="python3")
    stack.callback(manager.shutdown_kernel, now=True)
    stack.callback(client.stop_channels)

    def run(program: str) -> str:
        printed: list[str] = []

        def hook(message: dict[str, Any]) -> None:
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])

        client.execute_interactive(program, output_hook=hook, timeout=60)
        return "".join(printed)

    return run


def _llm_sandbox(stack: ExitStack, _preload: tuple[str, ...]) -> Run:
    from llm_sandbox import SandboxSession  # type: ignore[import-not-found]

    session = stack.enter_context(SandboxSession(backend="bubblewrap", lang="python", skip_environment_setup=True))
    return lambda program: str(session.run(program).stdout)


CONTESTANTS: dict[str, Contestant] = {
    contestant.name: contestant
    for contestant in (
        Contestant("bare", "bare python -c", "", _command(sys.executable, "-c"), preloads=False),
        Contestant("belljar", "belljar, a parked cell", "", _belljar(), preloads=True),
        Contestant("belljar-cold", "belljar, no parked cell left", "", _belljar(parked=0), preloads=True),
        Contestant("belljar-local", "belljar, backend local (no walls)", "", _belljar(backend="local"), preloads=True),
        Contestant(
            "bubblewrap",
            "bubblewrap",
            "program:bwrap",
            _command(
                "bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                "--die-with-parent", _SYSTEM_PYTHON, "-c",
            ),
        ),
        Contestant(
            "nsjail",
            "nsjail",
            "program:nsjail",
            _command(
                "nsjail", "-Q", "-Mo", "--chroot", "/", "--user", "65534", "--group", "65534", "--",
                _SYSTEM_PYTHON, "-c",
            ),
        ),
        Contestant(
            "firejail",
            "firejail",
            "program:firejail",
            _command("firejail", "--quiet", "--noprofile", "--net=none", "--private", _SYSTEM_PYTHON, "-c"),
        ),
        Contestant("sandlock", "sandlock", "module:sandlock", _sandlock),
        Contestant(
            "docker-run",
            "docker run --rm",
            f"image:{IMAGE}",
            _command("docker", "run", "--rm", "--network=none", IMAGE, "python3", "-c"),
        ),
        Contestant("docker-exec", "docker exec", f"image:{IMAGE}", _docker_exec),
        Contestant("llm-sandbox", "llm-sandbox, in a session", "module:llm_sandbox", _llm_sandbox, together=False),
        Contestant("jupyter", "Jupyter, a warm kernel", "module:jupyter_client", _jupyter, together=False),
    )
}  # fmt: skip
