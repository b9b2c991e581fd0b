"""Just enough of Markdown: fenced blocks, links, headings and tables."""

import re
from dataclasses import dataclass

NO_TEST = "<!-- no-test -->"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the line of its fence and whether it is to be run."""

    language: str
    text: str
    line: int
    tested: bool


def blocks(text: str) -> list[Block]:
    """Every fenced block that begins at the left margin."""
    found: list[Block] = []
    lines = text.splitlines()
    start: int | None = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
            continue
        before = next((ln.strip() for ln in reversed(lines[:start]) if ln.strip()), "")
        language = (lines[start][3:].split() or [""])[0]
        body = "".join(f"{ln}\n" for ln in lines[start + 1 : number])
        found.append(Block(language, body, start + 1, before != NO_TEST))
        start = None
    if start is not None:
        raise ValueError(f"the block of line {start + 1} has no end")
    return found


def without_blocks(text: str) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Targets of links and images that are not on another host."""
    prose = re.sub(r"`[^`\n]*`", "", without_blocks(text))
    pairs = re.findall(r"\]\(([^)\s]+)[^)]*\)|^\[[^\]]+\]:\s+(\S+)", prose, re.MULTILINE)
    targets = [inline or reference for inline, reference in pairs]
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """What `#...` can point at: the headings, as the usual hosts name them."""
    headings = re.findall(r"^#+ +(.+?) *$", without_blocks(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def table(text: str, first: str) -> list[dict[str, str]]:
    """The rows, by header, of the first table whose first column is called so; without code marks."""
    found = re.search(rf"^\| *{first} *\|.*\n(?:\|.*\n?)*", text, re.MULTILINE | re.IGNORECASE)
    if found is None:
        raise ValueError(f"no table begins with a column {first!r}")
    rows = [
        [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")] for line in found[0].splitlines()
    ]
    headers = [header.lower() for header in rows[0]]
    return [dict(zip(headers, row, strict=True)) for row in rows[2:]]
