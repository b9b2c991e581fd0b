"""How fast belljar is on this machine, beside what else runs code here: measured in turns, told as ratios."""
