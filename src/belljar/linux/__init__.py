"""Kernel access, one concept a file: typed functions, no policy."""
