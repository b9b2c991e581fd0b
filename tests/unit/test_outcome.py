"""Facts to outcomes."""

import dataclasses
import itertools
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belljar.outcome import TABLE, Facts, Outcome, classify
from belljar.result import OutcomeName

# Strongest first: each fact alone decides, whatever weaker facts are there too.
DECISIVE: list[tuple[dict[str, Any], Outcome]] = [
    ({"cancelled": True}, Outcome.CANCELLED),
    ({"lost": True}, Outcome.LOST),
    ({"out_of_memory": True}, Outcome.OUT_OF_MEMORY),
    ({"deadline": "wall"}, Outcome.TIMED_OUT),
    ({"stopped_for": "output"}, Outcome.OVER_LIMIT),
    ({"denied": True}, Outcome.DENIED),
    ({"rejected": True}, Outcome.REJECTED),
    ({"signal": 11}, Outcome.CRASHED),
]

facts = st.builds(
    Facts,
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    rejected=st.booleans(),
    answered=st.booleans(),
    deadline=st.sampled_from([None, "wall", "cpu"]),
    out_of_memory=st.booleans(),
    stopped_for=st.none() | st.text(),
    denied=st.booleans(),
    cancelled=st.booleans(),
    lost=st.booleans(),
)


def test_closed_list() -> None:
    words = [
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
    assert [str(outcome) for outcome in Outcome] == words
    assert list(get_args(OutcomeName)) == words


def test_only_lost_is_infra_and_all_have_a_meaning() -> None:
    assert [outcome for outcome in Outcome if outcome.is_infra] == [Outcome.LOST]
    assert len({outcome.meaning for outcome in Outcome}) == len(Outcome)
    assert not any("\n" in outcome.meaning for outcome in Outcome)


@pytest.mark.parametrize(
    ("given_facts", "outcome"),
    [
        *DECISIVE,
        ({}, Outcome.LOST),
        ({"answered": False}, Outcome.LOST),
        ({"exit_code": 0}, Outcome.OK),
        ({"exit_code": 1}, Outcome.FAILED),
        ({"exit_code": 255}, Outcome.FAILED),
        ({"exit_code": 0, "answered": False}, Outcome.FAILED),
        ({"exit_code": 0, "deadline": "cpu"}, Outcome.TIMED_OUT),
        ({"exit_code": 0, "stopped_for": ""}, Outcome.OVER_LIMIT),
        ({"exit_code": 137, "signal": 9}, Outcome.CRASHED),
    ],
)
def test_table(given_facts: Any, outcome: Any) -> None:
    assert classify(Facts(**given_facts)) is outcome


@pytest.mark.parametrize(
    ("strong", "weak"),
    [(a, b) for (i, a), (j, b) in itertools.product(enumerate(DECISIVE), repeat=2) if i < j],
)
@pytest.mark.parametrize("rest", [{}, {"exit_code": 0}, {"exit_code": 1, "answered": False}])
def test_precedence(strong: Any, weak: Any, rest: Any) -> None:
    assert classify(Facts(**rest, **strong[0], **weak[0])) is strong[1]


@given(facts)
def test_every_facts_has_one_outcome(some: Any) -> None:
    outcome = classify(some)
    assert outcome in Outcome
    assert outcome is next(word for word, fits in TABLE if fits(some))
    decisive = [word for fact, word in DECISIVE if any(bool_of(getattr(some, name)) for name in fact)]
    if decisive:
        assert outcome is decisive[0]
    elif some.exit_code is None:
        assert outcome is Outcome.LOST
    else:
        assert (outcome is Outcome.OK) is (some.exit_code == 0 and some.answered)


def bool_of(value: Any) -> bool:
    return value is not None and value is not False


@given(facts, st.text())
def test_no_text_changes_the_outcome(some: Any, text: Any) -> None:
    kinds = get_type_hints(Facts)
    texts = [name for name, kind in kinds.items() if kind is str or str in get_args(kind)]
    assert texts == ["stopped_for"]
    if some.stopped_for is not None:
        assert classify(dataclasses.replace(some, stopped_for=text)) is classify(some)


@given(facts)
def test_blame(some: Any) -> None:
    unknown = some.exit_code is None and classify(dataclasses.replace(some, exit_code=0)) in {
        Outcome.OK,
        Outcome.FAILED,
    }
    assert classify(some).is_infra is ((some.lost and not some.cancelled) or unknown)
