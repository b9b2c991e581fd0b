"""The command `belljar`: `main.py` is the entry, and each command has a file that is imported when it is asked for."""
