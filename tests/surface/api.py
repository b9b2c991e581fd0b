"""User code: only the type checker reads it, to hold what users' own checkers will see."""

from collections.abc import Generator
from typing import assert_type

import belljar
from belljar import AsyncSandbox, Layer, Level, Limits, Outcome, Policy, Report, Result, Sandbox, Usage


def limits() -> None:
    """Numbers and strings with a unit go in, seconds and bytes come out."""
    limits = Limits(wall="2s", cpu=1.5, memory="256M", processes=8, output=1_000_000)
    assert_type(limits.wall, float)
    assert_type(limits.cpu, float | None)
    assert_type(limits.memory, int)
    assert_type(limits.replace(memory="1G"), Limits)
    assert_type(Limits.from_dict({"wall": 1}), Limits)
    Limits(memroy="1G")  # type: ignore[call-arg]
    limits.wall = 3.0  # type: ignore[misc]


def one_run() -> None:
    """One call, one result."""
    result = belljar.run("6 * 7", stdin="3 4", files={"a.csv": b"1,2"}, limits=Limits(wall="2s"))
    assert_type(result, Result)
    assert_type(result.outcome, Outcome)
    assert_type(result.outcome.is_infra, bool)
    assert_type(result.ok, bool)
    assert_type(result.stdout, str)
    assert_type(result.stderr, str)
    assert_type(result.usage, Usage)
    assert_type(result.usage.wall, float)
    assert_type(result.report, Report)
    assert_type(result.report.level, Level)
    assert_type(result.report.layers, tuple[Layer, ...])
    if result.error is not None:
        assert_type(result.error.message, str)


def every_outcome(outcome: Outcome) -> str:
    """The list is closed: a match without a rest is complete."""
    match outcome:
        case Outcome.OK:
            return "good"
        case Outcome.FAILED | Outcome.REJECTED | Outcome.CRASHED:
            return "the code"
        case Outcome.TIMED_OUT | Outcome.OUT_OF_MEMORY | Outcome.OVER_LIMIT | Outcome.DENIED:
            return "a limit"
        case Outcome.CANCELLED | Outcome.LOST:
            return "not the code"


def sandbox() -> None:
    """Many runs under one policy."""
    with Sandbox(policy=Policy(limits=Limits(memory="1G")), backend="local") as box:
        assert_type(box, Sandbox)
        assert_type(box.run("print(1)"), Result)
        assert_type(box.map(["1", "2"]), Generator[Result, None, None])
    assert_type(belljar.map(["1", "2"]), Generator[Result, None, None])


async def async_sandbox() -> None:
    """The same, awaited."""
    async with AsyncSandbox(backend="local") as box:
        assert_type(box, AsyncSandbox)
        assert_type(await box.run("print(1)"), Result)
        async for result in box.map(["1", "2"]):
            assert_type(result, Result)


def errors() -> None:
    """What can be raised, and never for what the code did."""
    try:
        belljar.run("1")
    except belljar.UsageError as error:
        assert_type(error.field, str | None)
    except belljar.SetupError as error:
        assert_type(error.layer, str)
        assert_type(error.cure, str | None)
    except belljar.BelljarError:
        pass
