"""For those who test: `FakeBackend` gives scripted results, `belljar.testing.contract` is the suite for a backend."""

from belljar.testing.fake import FakeBackend, Scripted

__all__ = ["FakeBackend", "Scripted"]
