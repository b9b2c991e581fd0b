"""Runs inside the cell, beside user code: standard library only, and nothing of the host."""
