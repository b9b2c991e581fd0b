"""`belljar prove`: attacks of our own against the walls of this machine, judged from outside."""
