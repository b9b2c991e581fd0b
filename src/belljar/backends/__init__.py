"""Who provides cells: one file a backend, found by name in `registry`."""
