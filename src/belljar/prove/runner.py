"""Runs attacks, some at a time, and collects what speaks for or against each."""

from __future__ import annotations

import ctypes
import json
import os
import platform
import secrets
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from belljar.prove.canary import Canary
from belljar.prove.judges import Evidence, State, Verdict, judge
from belljar.report import Level
from belljar.request import CallRequest, RunRequest
from belljar.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from belljar.prove.attacks import Attack
    from belljar.report import Report
    from belljar.request import InputFile
    from belljar.result import Result

_libc = ctypes.CDLL(None, use_errno=True)
_KIT = os.path.join(os.path.dirname(__file__), "kit.py")
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run")
_PATIENCE = 1.0  # seconds that a process has to be gone when its run is over


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One attack, what came of it, and how long it took."""

    attack: Attack
    verdict: Verdict
    seconds: float = 0.0
    outcome: str = ""


@dataclass(slots=True, kw_only=True)
class Proof:
    """What came of all of them."""

    backend: str
    level: str = ""
    tried: list[Tried] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    """What is not as it was on the host, whoever did it."""
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether everything held that is promised: what is unclear has not."""
        bad = (State.BROKE, State.UNCLEAR)
        return bool(self.tried) and not self.damage and not any(one.verdict.state in bad for one in self.tried)

    def count(self, state: State) -> int:
        """How many came out so."""
        return sum(one.verdict.state is state for one in self.tried)


def prove(
    attacks: Iterable[Attack],
    *,
    backend: str,
    workers: int,
    python: str | None = None,
    on_tried: Callable[[Tried], object] = lambda _: None,
) -> Proof:
    """Run the attacks on a backend. They come back in the order in which they were given."""
    began = time.monotonic()
    proof = Proof(backend=backend)
    with Canary() as canary, Sandbox(backend=backend, python=python, workers=workers) as box:
        first = box.run("print(6 * 7)")
        proof.level = first.report.level.value
        runner = Runner(box, canary, first.report)

        def one(attack: Attack) -> Tried:
            tried = runner.run(attack)
            on_tried(tried)
            return tried

        with ThreadPoolExecutor(workers, thread_name_prefix="attack") as pool:
            proof.tried = list(pool.map(one, attacks))
        if box.run("print(6 * 7)").stdout != "42\n":
            proof.damage.append("the backend runs nothing any more")
        proof.damage += canary.damage()
    proof.seconds = time.monotonic() - began
    return proof


class Runner:
    """One backend and one set of bait, for any number of attacks."""

    def __init__(self, box: Sandbox, canary: Canary, report: Report) -> None:
        self._box, self._canary = box, canary
        self._level = report.level
        self._layers = {layer.name: layer.by for layer in report.layers if layer.by}
        with open(_KIT, "rb") as file:
            self._kit = file.read()

    def _is_known(self, attack: Attack) -> bool:
        """Whether the documentation says that it gets through at this level. Without walls everything counts."""
        return bool(attack.known) and self._level is not Level.NONE and Level(attack.known).at_least(self._level)

    def run(self, attack: Attack) -> Tried:
        """Run one attack to its verdict."""
        if attack.machine not in (None, platform.machine()):
            return Tried(attack=attack, verdict=Verdict(State.SKIPPED, f"it is for {attack.machine}"))
        began = time.monotonic()
        token = f"jp{secrets.token_hex(5)}"
        told = {**self._canary.told, "token": token, "knock": _free_port()}
        attempts: dict[str, Callable[[], bool]] = {
            "knock": lambda: _is_open(told["knock"]),
            "watch": _cannot_watch,
            "signal": _cannot_signal,
        }
        meanwhile = _Meanwhile(attempts[attack.during]) if attack.during else None
        results = self._run_all(attack, told)
        evidence = Evidence(
            attack=attack,
            results=results,
            token=token,
            traces=self._traces(token, results),
            met=meanwhile.stop() if meanwhile else False,
        )
        verdict = judge(evidence)
        if verdict.state is State.HELD:
            layer = self._layers.get(attack.layer, "")
            verdict = Verdict(State.HELD, verdict.reason, ": ".join(part for part in (layer, verdict.by) if part))
        elif verdict.state is State.BROKE and self._is_known(attack):
            verdict = Verdict(State.KNOWN, f"as documented: {verdict.reason}")
        outcome = results[-1].outcome.value
        return Tried(attack=attack, verdict=verdict, seconds=time.monotonic() - began, outcome=outcome)

    def _run_all(self, attack: Attack, told: dict[str, Any]) -> list[Result]:
        if attack.runs == "together":
            with ThreadPoolExecutor(2) as pool:
                pair = [pool.submit(self._run_once, attack, {**told, "turn": turn}) for turn in (1, 2)]
                return [one.result() for one in pair]
        turns = (1, 2) if attack.runs == "twice" else (1,)
        return [self._run_once(attack, {**told, "turn": turn}) for turn in turns]

    def _run_once(self, attack: Attack, told: dict[str, Any]) -> Result:
        files: dict[str, InputFile] = {"kit.py": self._kit, "told.json": json.dumps(told)}
        name = attack.name.replace("/", "_") + ".py"
        if attack.call is None:
            run = RunRequest(source=attack.source, files=files, limits=attack.limits, filename=name)
            return self._box.run(run)
        call = CallRequest(source=attack.source, function=attack.call, files=files, limits=attack.limits, filename=name)
        return self._box.call(call)

    def _traces(self, token: str, results: list[Result]) -> list[str]:
        found = self._canary.touched_by(token)
        for result in results:
            found += [f"it has the secret of the {name}" for name in self._canary.leaked(_everything(result))]
        found += [f"{path} was left behind" for path in left_files(token)]
        return found + [f"process {pid} was left behind" for pid in left_processes(token)]


class _Meanwhile:
    """Tries something on the host again and again, until it comes to something or it is told to stop."""

    def __init__(self, what: Callable[[], bool]) -> None:
        self._what, self._over, self._met = what, Event(), False
        self._thread = Thread(target=self._try, daemon=True, name="meanwhile")
        self._thread.start()

    def stop(self) -> bool:
        """Whether it came to something."""
        self._over.set()
        self._thread.join()
        return self._met

    def _try(self) -> None:
        while not self._met and not self._over.wait(0.02):
            self._met = self._what()


def _is_open(port: int) -> bool:
    """Whether somebody listens there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


def _cannot_watch() -> bool:
    """Whether this user has no inotify instance left."""
    fd: int = _libc.inotify_init1(os.O_CLOEXEC)
    if fd >= 0:
        os.close(fd)
    return fd < 0


def _cannot_signal() -> bool:
    """Whether this user may have no more signals waiting: a timer that is never started has one set aside."""
    timer = ctypes.c_void_p()
    failed: int = _libc.timer_create(time.CLOCK_MONOTONIC, None, ctypes.byref(timer))
    if not failed:
        _libc.timer_delete(timer)
    return bool(failed)


def left_files(token: str) -> list[str]:
    """Files with the token in their name, where everybody can write."""
    found = []
    for place in _PLACES:
        with suppress(OSError):
            found += [os.path.join(place, name) for name in os.listdir(place) if token in name]
    return found


def left_processes(token: str) -> list[int]:
    """Living processes that carry the token in their name, arguments or environment."""
    until = time.monotonic() + _PATIENCE
    while (found := _processes_with(token.encode())) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _processes_with(token: bytes) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for file in ("stat", "cmdline"):
            with suppress(OSError), open(f"/proc/{name}/{file}", "rb") as opened:
                text = opened.read()
                if token in text and not (file == "stat" and text.rpartition(b") ")[2].startswith((b"Z", b"X"))):
                    found.append(int(name))
                    break
    return found


def _everything(result: Result) -> str:
    """All that a result brings, as one text."""
    files = b"\0".join(file.data for file in result.files.values())
    text = json.dumps([result.value, [display.to_dict() for display in result.displays]], default=repr)
    return "\0".join((result.stdout, result.stderr, files.decode("latin-1"), text, str(result.error)))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
