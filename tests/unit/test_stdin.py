"""Sources of standard input, beyond what the contract says of them."""

import itertools
import threading

import pytest

from belljar.stdin import open_stdin
from belljar.testing.contract.base import wait_until


def pullers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "belljar-stdin"]


@pytest.mark.parametrize("item", ["", "x"])
def test_an_endless_iterator_is_let_go_with_its_run(item: str) -> None:
    before = pullers()
    source = open_stdin(itertools.repeat(item), in_loop=False)
    assert source is not None
    (puller,) = (thread for thread in pullers() if thread not in before)
    source.close()
    wait_until(lambda: not puller.is_alive(), "nobody pulls any more")
