"""What a forked process must not share with its siblings."""

import os
import sys


def make_fresh(environment: dict[str, str]) -> None:
    """Own random numbers, own names for temporary files, and an environment made from nothing.

    `random` seeds itself anew in each fork.
    """
    os.environ.clear()
    os.environ.update(environment)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()  # unlike `random`, numpy has no hook at fork
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile.tempdir = tempfile._name_sequence = None  # type: ignore[attr-defined]
    uuid = sys.modules.get("uuid")
    if uuid is not None:
        uuid._node = None  # type: ignore[attr-defined]
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None:
        processes.current_process().authkey = os.urandom(32)
