"""Change modules and builtins of the interpreter, and look whether the next run has them so."""

TITLE = "Poison modules"
MUST_NOT = "The next run has an interpreter that nobody has touched."
SEVERITY = "critical"
RUNS = "twice"

import builtins
import json
import os
import sys

from kit import broken, end, told

if told["turn"] == 2:
    if (
        hasattr(builtins, "poisoned")
        or hasattr(json, "poisoned")
        or "poison" in sys.modules
        or os.environ.get("POISON")
    ):
        broken("the interpreter is poisoned")
    if any("belljar" in str(module) and hasattr(module, "poisoned") for module in list(sys.modules.values())):
        broken("the guest is poisoned")
    if sys.getrecursionlimit() == 12345 or os.nice(0) > 10 or os.umask(0o22) == 0o777:
        broken("settings were kept")
else:
    for module in [*list(sys.modules.values()), builtins, json]:
        try:
            module.poisoned = True
        except (AttributeError, TypeError):
            pass
    sys.modules["poison"] = json
    os.environ["POISON"] = "1"
    sys.setrecursionlimit(12345)
    os.nice(12)
    os.umask(0o777)
end("untouched")
