"""Read the sources and settings of the caller's project, which often lie where Python looks for modules."""

TITLE = "Read the caller's modules"
MUST_NOT = "Nothing is on the path of modules but the interpreter's own places and our directory."
SEVERITY = "high"
LAYER = "filesystem"

import os
import sys

from kit import broken, end

here = os.getcwd()
ours = (sys.prefix, sys.base_prefix, "/usr/lib", "/usr/local/lib", here, sys.modules["__main__"].__file__)
for place in sys.path:
    if (
        place
        and os.path.isdir(place)
        and not os.path.realpath(place).startswith(tuple(os.path.realpath(one) for one in ours))
    ):
        broken(f"{place} is on the path of modules, and can be read")
for name, module in list(sys.modules.items()):
    file = getattr(module, "__file__", None)
    if (
        file
        and os.path.exists(file)
        and not os.path.realpath(file).startswith(tuple(os.path.realpath(one) for one in ours))
    ):
        broken(f"{name} is {file}, and can be read")
        break
end("its own places")
