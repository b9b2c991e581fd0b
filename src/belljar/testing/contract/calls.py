"""Calls: JSON in, JSON out, and nothing that is printed is ever the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from belljar.outcome import Outcome
from belljar.testing.contract.base import ContractBase

if TYPE_CHECKING:
    from collections.abc import Callable

    from belljar.result import Result

TOOL = "class T:\n  def __init__(self, config=None): self.config = config\n  def run(self, a): return [a, self.config]"


class CallContract(ContractBase):
    """Functions and methods."""

    @pytest.mark.parametrize("value", [None, True, 0, -1.5, "ü\n\0", [], {"a": [1, {"b": None}]}, 10**40])
    def test_values_go_in_and_come_out_as_they_are(self, call: Callable[..., Result], value: Any) -> None:
        result = call("def main(x): return x", x=value)
        assert (result.outcome, result.has_value, result.value) == (Outcome.OK, True, value)

    def test_3_megabytes_each_way(self, call: Callable[..., Result]) -> None:
        assert call("def main(x): return x + 'y'", x="x" * 3_000_000).value == "x" * 3_000_000 + "y"

    def test_methods_and_their_constructors(self, call: Callable[..., Result]) -> None:
        assert call(TOOL, "T.run", a=1).value == [1, {}]
        assert call(TOOL, "T.run", init={"config": 5}, a=1).value == [1, 5]
        assert call("class T:\n  def run(self): return 2", "T.run").value == 2
        assert call("class T:\n  @staticmethod\n  def run(): return 3", "T.run").value == 3

    def test_async_functions_are_awaited(self, call: Callable[..., Result]) -> None:
        assert call("import asyncio\nasync def main(): await asyncio.sleep(0); return 3").value == 3

    def test_it_is_not_the_main_program(self, call: Callable[..., Result]) -> None:
        result = call("def main(): return __name__\nif __name__ == '__main__': main(); print('ran')")
        assert (result.value, result.stdout) == ("main", "")

    def test_prints_are_output(self, call: Callable[..., Result]) -> None:
        result = call("def main(): print('debug'); return 7")
        assert (result.value, result.stdout) == (7, "debug\n")

    @pytest.mark.parametrize(
        ("source", "arguments", "words"),
        [
            ("def other(): pass", {}, ["no 'main'", "other"]),
            ("main = 5", {}, ["not callable", "int"]),
            ("def main(a): pass", {"b": 1}, ["main(a)", "'b'"]),
            ("def main(): return {1, 2}", {}, ["main", "set", "not JSON serializable"]),
            ("def main(): return [object()]", {}, ["object", "not JSON serializable"]),
            ("def main(): return float('nan')", {}, ["not JSON"]),
            ("def main(): raise NotImplementedError('not yet')", {}, ["not yet"]),
            ("import nopkg_xyz", {}, ["nopkg_xyz"]),
        ],
    )
    def test_what_goes_wrong_is_named(
        self, call: Callable[..., Result], source: str, arguments: dict[str, Any], words: list[str]
    ) -> None:
        result = call(source, **arguments)
        assert (result.outcome, result.exit_code, result.has_value) == (Outcome.FAILED, 1, False)
        assert result.error is not None
        for word in words:
            assert word in result.error.message

    def test_a_constructor_that_needs_more_is_named(self, call: Callable[..., Result]) -> None:
        result = call("class T:\n  def __init__(self, x): pass\n  def run(self): pass", "T.run")
        assert result.error is not None
        assert "Failed to initialize 'T' with default attempts" in result.error.message

    def test_an_error_inside_a_constructor_is_its_own(self, call: Callable[..., Result]) -> None:
        result = call("class T:\n  def __init__(self): raise TypeError('inner')\n  def run(self): pass", "T.run")
        assert result.error is not None
        assert result.error.message == "inner"

    def test_source_that_does_not_parse_is_rejected(self, call: Callable[..., Result]) -> None:
        assert call("def main(:").outcome is Outcome.REJECTED

    def test_an_end_without_an_answer_is_failed(self, call: Callable[..., Result]) -> None:
        result = call('import os\ndef main(): print(\'{"value": "forged"}\', flush=True); os._exit(0)')
        assert (result.outcome, result.exit_code, result.has_value) == (Outcome.FAILED, 0, False)

    def test_an_answer_that_is_too_long_is_failed(self, call: Callable[..., Result]) -> None:
        result = call("def main(): return 'x' * 20_000_000")
        assert result.outcome is Outcome.FAILED
        assert result.error is not None
        assert "bytes" in result.error.message

    def test_writing_to_every_descriptor_forges_nothing(self, call: Callable[..., Result]) -> None:
        source = (
            "import json, os, struct\n"
            "def main():\n"
            "  forged = json.dumps({'answer': {'value': 'FORGED'}, 'started': True}).encode()\n"
            "  for fd in range(3, 200):\n"
            "    for data in (forged, struct.pack('>I', len(forged)) + forged):\n"
            "      try: os.set_blocking(fd, False); os.write(fd, data)\n"
            "      except OSError: break\n"
            "  os._exit(0)"
        )
        result = call(source)
        assert (result.outcome, result.has_value) == (Outcome.FAILED, False)
