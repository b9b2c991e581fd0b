"""Starts the keeper: run as a file by a fresh interpreter, `python -I boot.py SOCKET OWNER`."""

import os
import sys


def main() -> None:
    """Leave the caller's family at once, then become the keeper."""
    if os.fork():
        os._exit(0)  # the caller waits for this one only, and never sees a child of ours again
    # The caller may have descriptors that it lets every child inherit: they are not for us.
    os.closerange(max(int(sys.argv[1]), int(sys.argv[2])) + 1, os.sysconf("SC_OPEN_MAX"))
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, os.path.dirname(package))
    from belljar.zygote import keeper

    del sys.path[0]
    keeper.main(int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    main()
