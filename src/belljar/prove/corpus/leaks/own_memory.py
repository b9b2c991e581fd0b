"""Search all of our own memory for what the process had in it from which we were forked."""

TITLE = "Search memory for secrets"
MUST_NOT = "Nothing of the caller, of other runs, or of the helper's setup is in our memory."
SEVERITY = "critical"
LAYER = ""

import re

from kit import end, say, told

mark = told["mark_backwards"][::-1].encode()
pattern = re.compile(re.escape(mark) + rb"-[0-9a-f]{24}")
searched = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        fields = line.split()
        if "r" not in fields[1] or fields[-1] in ("[vvar]", "[vsyscall]", "[vvar_vclock]"):
            continue
        low, high = (int(word, 16) for word in fields[0].split("-"))
        try:
            memory.seek(low)
            data = memory.read(high - low)
        except (OSError, ValueError, OverflowError):
            continue
        searched += len(data)
        for found in pattern.findall(data):
            say("FOUND", found.decode())
if searched < 1 << 20:
    say("UNCLEAR it could not read its own memory")
else:
    end(f"{searched >> 20} MB searched")
