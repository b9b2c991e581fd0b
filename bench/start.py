"""How long a run takes from nothing to its result, beside what anybody would use instead.

All cases take turns within each round, so that a machine whose speed drifts does so for all of them. What
counts is the ratio to a bare interpreter; milliseconds belong to one machine.
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import belljar

HELLO = "print('hello')"
BARE = "python -c pass"
WARM_UP = 3


def command(*words: str | Path) -> Callable[[], None]:
    """A case that runs a command and waits for its end."""

    def once() -> None:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)

    return once


def captured(*words: str) -> Callable[[], None]:
    """A case that runs a command as a program does which wants its output."""

    def once() -> None:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        assert done.stdout == "hello\n"

    return once


def parked(box: belljar.Sandbox) -> Callable[[], None]:
    """A case that runs in a cell which is waiting for it."""

    def once() -> None:
        result = box.run(HELLO)
        assert result.ok, result
        assert result.stdout == "hello\n", result

    return once


def cases(box: belljar.Sandbox, folder: Path) -> dict[str, Callable[[], None]]:
    """Every case by the name that the table shows."""
    hello = folder / "hello.py"
    hello.write_text(HELLO + "\n")
    python = sys.executable
    belljar_command = Path(python).with_name("belljar")
    return {
        BARE: command(python, "-c", "pass"),
        'python -c "import belljar"': command(python, "-c", "import belljar"),
        "python hello.py": command(python, hello),
        "belljar run --backend local hello.py": command(belljar_command, "run", "--backend", "local", hello),
        "subprocess.run([python, ...])": captured(python, "-c", HELLO),
        "Sandbox.run, parked": parked(box),
    }


def measure(todo: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every round of every case."""
    taken: dict[str, list[float]] = {name: [] for name in todo}
    for number in range(-WARM_UP, rounds):
        for name, once in todo.items():
            start = time.perf_counter()
            once()
            if number >= 0:
                taken[name].append(time.perf_counter() - start)
    return taken


def summary(taken: dict[str, list[float]]) -> list[dict[str, str | float]]:
    """Median, 9th decile and ratio to a bare interpreter, in milliseconds."""
    bare = statistics.median(taken[BARE])
    return [
        {
            "case": name,
            "p50_ms": round(statistics.median(seconds) * 1000, 3),
            "p90_ms": round(statistics.quantiles(seconds, n=10)[-1] * 1000, 3),
            "ratio": round(statistics.median(seconds) / bare, 3),
        }
        for name, seconds in taken.items()
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time from nothing to the result of one small run.")
    parser.add_argument("--rounds", type=int, default=40, help="rounds of all cases (default 40, at least 2)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    chosen = parser.parse_args()
    if chosen.rounds < 2:
        parser.error("--rounds must be at least 2")
    with tempfile.TemporaryDirectory() as folder, belljar.Sandbox(backend="local") as box:
        rows = summary(measure(cases(box, Path(folder)), chosen.rounds))
    if chosen.json:
        print(json.dumps({"python": platform.python_version(), "rounds": chosen.rounds, "cases": rows}))
        return
    print(f"{'case':38} {'p50 ms':>9} {'p90 ms':>9} {'ratio':>7}")
    for row in rows:
        print(f"{row['case']:38} {row['p50_ms']:9.2f} {row['p90_ms']:9.2f} {row['ratio']:7.2f}")
    print(f"Python {platform.python_version()}, {chosen.rounds} rounds in turn; ratio: of p50, to {BARE}")


if __name__ == "__main__":
    main()
