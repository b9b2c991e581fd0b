"""Fill memory with a mark, and look for it in the fresh memory of the next run."""

TITLE = "Find the memory of the run before"
MUST_NOT = "Fresh memory is empty, and memory of the interpreter has nothing of the run before."
SEVERITY = "critical"
RUNS = "twice"

import mmap
import re

from kit import broken, end, token, told

mark = ("seen" + token[::-1]).encode()
if told["turn"] == 1:
    kept = [mark * 4096 for _ in range(40)]
    block = mmap.mmap(-1, 32 << 20)
    block.write(mark * ((32 << 20) // len(mark)))
    end("filled")
for _ in range(48):
    block = mmap.mmap(-1, 1 << 20)
    if block.read(1 << 20).strip(b"\0"):
        broken("fresh memory is not empty")
backwards = re.compile(re.escape(token[2:].encode()[::-1]) + rb"pj[s]een")
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        fields = line.split()
        if "r" not in fields[1] or fields[-1].startswith("[v"):
            continue
        low, high = (int(word, 16) for word in fields[0].split("-"))
        if high - low > 30 << 20:
            continue
        try:
            memory.seek(low)
            if backwards.search(memory.read(high - low)):
                broken(f"the mark is at {low:x}")
        except (OSError, ValueError, OverflowError):
            continue
end("empty")
