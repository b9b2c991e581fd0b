"""`python -m belljar` is the command `belljar`."""

from belljar.cli.main import main

if __name__ == "__main__":
    main()
