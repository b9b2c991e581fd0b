"""How a request in some language becomes a program for the guest: one file a family."""
