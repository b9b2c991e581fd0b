"""belljar."""
