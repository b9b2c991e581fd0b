"""Skipping and failing for what a machine lacks."""

import re
import sys
from collections.abc import Callable

import pytest
from tests import needs

HERE: dict[str, needs.Probe] = {
    "present": lambda: None,
    "lacking": lambda: "there is none",
    "other": lambda: "nor of these",
}


def test_a_present_feature_lets_the_test_run() -> None:
    needs.need("present", known=HERE, promise="present")


def test_no_feature_is_fine() -> None:
    needs.need(known=HERE, promise="")


@pytest.mark.parametrize("promise", ["", "present", "present,other"])
def test_a_lacking_feature_skips(promise: str) -> None:
    with pytest.raises(pytest.skip.Exception, match="needs lacking: there is none"):
        needs.need("present", "lacking", known=HERE, promise=promise)


@pytest.mark.parametrize("promise", ["lacking", "present,lacking", " lacking , other"])
def test_a_promised_feature_fails_instead(promise: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"lacking must work here .* but there is none"):
        needs.need("present", "lacking", known=HERE, promise=promise)


def test_the_promise_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLJAR_MUST_WORK", "lacking")
    with pytest.raises(pytest.fail.Exception):
        needs.need("lacking", known=HERE)
    monkeypatch.delenv("BELLJAR_MUST_WORK")
    with pytest.raises(pytest.skip.Exception):
        needs.need("lacking", known=HERE)


@pytest.mark.parametrize(("names", "promise"), [(("presnet",), ""), (("present",), "lakcing"), ((), "present,,x")])
def test_an_unknown_name_is_an_error(names: tuple[str, ...], promise: str) -> None:
    with pytest.raises(pytest.UsageError, match="known are present, lacking, other"):
        needs.need(*names, known=HERE, promise=promise)


@pytest.mark.parametrize("text", ["", ",", " , "])
def test_an_empty_promise_promises_nothing(text: str) -> None:
    assert needs.must_work(text) == frozenset()


def test_local_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert needs.local() == "this is darwin, not Linux"


def test_local_reports_a_refused_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, flags: int = 0) -> int:
        raise OSError(38, "Function not implemented")

    if needs.linux():
        pytest.skip("needs os.pidfd_open")
    monkeypatch.setattr("os.pidfd_open", refuse)
    assert re.search("pidfd_open does not work: Function not implemented", needs.local() or "")


def test_the_fixture_is_the_function(need: Callable[..., None]) -> None:
    assert need is needs.need
