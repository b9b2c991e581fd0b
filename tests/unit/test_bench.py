"""The bench: turns, figures, tables, picture; over contestants that are made up, and once over the real ones."""

import json
import xml.etree.ElementTree as ElementTree
from contextlib import ExitStack

import pytest
from tests.needs import need

from belljar.bench import measure, report
from belljar.bench.contestants import CONTESTANTS, Contestant, Run
from belljar.bench.measure import Rate, Times, as_many_as_possible, in_turns
from belljar.bench.workloads import LATENCY, Workload
from belljar.cli import bench
from belljar.errors import SetupError, UsageError

HELLO = Workload("hello", "say hello", "print('hello')", "hello\n")


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two contestants who write down when they run, and one who does something else."""
    found: list[str] = []

    def contestant(name: str, prints: str) -> Contestant:
        def start(stack: ExitStack, preload: tuple[str, ...]) -> Run:
            found.append(f"{name} opens {preload}")
            stack.callback(found.append, f"{name} closes")

            def run(_program: str) -> str:
                found.append(name)
                return prints

            return run

        return Contestant(name, name, "", start, preloads=name == "b")

    made = {name: contestant(name, prints) for name, prints in (("a", "hello\n"), ("b", "hello\n"), ("c", "bye\n"))}
    monkeypatch.setattr(measure, "CONTESTANTS", made)
    monkeypatch.setattr(measure, "_PAUSE", 0)
    return found


def test_they_take_turns(order: list[str]) -> None:
    steps: list[int] = []
    times = in_turns(HELLO, ["a", "b"], 5, lambda: steps.append(1))
    assert order == ["a opens ()", "b opens ()", *["a", "b"] * (3 + 5), "b closes", "a closes"]
    assert [(one.contestant, len(one.milliseconds)) for one in times] == [("a", 5), ("b", 5)]
    assert len(steps) == 16


def test_only_those_who_can_preload(order: list[str]) -> None:
    in_turns(Workload("n", "n", "n", "hello\n", needs=("json",), rounds=0.5), ["a", "b"], 8)
    assert order[:2] == ["a opens ()", "b opens ('json',)"]
    assert order.count("a") == 3 + 4


@pytest.mark.parametrize("workers", [1, 4])
def test_as_many_as_possible(order: list[str], workers: int) -> None:
    rate = as_many_as_possible(HELLO, "a", workers, 50)
    assert (rate.workers, len(rate.times.milliseconds), order.count("a")) == (workers, 50, 53)
    assert rate.runs_per_second > 0
    assert rate.busy >= 0


@pytest.mark.usefixtures("order")
def test_who_does_something_else_is_found_out() -> None:
    with pytest.raises(RuntimeError, match="hello printed 'bye"):
        in_turns(HELLO, ["a", "c"], 3)


def test_percentiles() -> None:
    times = Times("a", tuple(float(number) for number in range(100, 0, -1)))
    assert [times.percentile(share) for share in (0.0, 0.5, 0.9, 0.99, 1.0)] == [1, 51, 91, 100, 100]


# What is told


@pytest.fixture
def found() -> report.Report:
    times = [Times("bare", (10.0, 11.0, 12.0)), Times("belljar", (1.0, 1.1, 2.0))]
    rates = [Rate("belljar", 4, 300.0, 5.0, times[1])]
    return report.Report("full", {"hello": times}, rates, {"": 2 << 20, "numpy": None}, {"nsjail": "it is not there"})


def test_as_json(found: report.Report) -> None:
    told = json.loads(json.dumps(report.to_dict(found)))
    bare, ours = told["times"]["hello"]
    assert (bare["beside_bare"], ours["beside_bare"], ours["p50"], ours["rounds"]) == (1.0, 0.1, 1.1, 3)
    assert told["rates"][0]["runs_per_second"] == 300
    assert set(told["host"]) == {"kernel", "machine", "processor", "processors", "python"}
    assert told["absent"] == {"nsjail": "it is not there"}


def test_as_text(found: report.Report) -> None:
    text = "\n".join(report.lines(found))
    assert "a parked cell (nothing preloaded): 2.0 MiB" in text
    assert "a parked cell (numpy): this user may not see it" in text
    assert "without nsjail: it is not there" in text
    assert next(line for line in text.splitlines() if "belljar, a parked cell" in line).split()[-4:] == [
        "1.10", "2.00", "2.00", "0.100",
    ]  # fmt: skip


def test_as_a_picture(found: report.Report) -> None:
    picture = ElementTree.fromstring(report.picture(found))
    bars = [part for part in picture if part.tag.endswith("rect")]
    assert [bar.get("class") for bar in bars] == ["theirs", "ours"]
    assert float(bars[0].get("width", 0)) > float(bars[1].get("width", 0)) > 0


def test_all_contestants_and_workloads_are_told_apart() -> None:
    assert len({one.title for one in CONTESTANTS.values()}) == len(CONTESTANTS)
    assert len({one.title for one in LATENCY.values()}) == len(LATENCY)
    assert {name for workload in LATENCY.values() for name in workload.only} <= set(CONTESTANTS)


# The command


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rounds", "0"], "`--rounds` is '0': give a whole number from 1 to 10000."),
        (["--workload", "tea"], "`--workload` is 'tea': give one of hello, "),
        (["--contestant", "me"], "`--contestant` is 'me': give one of bare, belljar"),
    ],
)
def test_mistakes(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        bench.main(bench.parser().read(words))
    assert str(caught.value).startswith(message)


def test_a_contestant_that_does_something_else_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    need("userns")
    monkeypatch.setitem(
        CONTESTANTS, "bare", Contestant("bare", "bare", "", lambda _stack, _preload: lambda _program: "x")
    )
    with pytest.raises(SetupError, match="hello printed 'x'"):
        bench.main(bench.parser().read(["--workload", "hello", "--contestant", "bare", "--rounds", "1"]))


def test_a_short_one(capfd: pytest.CaptureFixture[str]) -> None:
    need("userns")
    words = ["--rounds", "1", "--json", "--workload", "hello", "--workload", "rate", "--workload", "memory"]
    assert bench.main(bench.parser().read([*words, "--contestant", "bare", "--contestant", "belljar-cold"])) == 0
    told = json.loads(capfd.readouterr().out)
    assert [one["contestant"] for one in told["times"]["hello"]] == ["bare", "belljar-cold"]
    assert {one["contestant"] for one in told["rates"]} == {"bare", "belljar-cold"}
    assert told["level"] in ("full", "rootless")
    assert "" in told["memory"]
