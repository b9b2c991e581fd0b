"""The documentation is true: its examples run, its links and the files it names exist.

In README.md and docs/*.md:

- a python block runs in a new process and must exit 0. What `print` shows may be written as comments
  `# -> text`, on the line or below it; they are found in the output in that order. `...` stands for any text.
- a console block is a session: lines `$ belljar ...` (also behind a pipe) and `$ echo $?` run, and what is
  shown below them must be what they print, stdout and stderr; a line `...` stands for any lines.
  `$ cat NAME` with text below it makes that file. After a command that does not exit 0 comes `$ echo $?`.
  Other commands do not run.
- `<!-- no-test -->` on the line before a block leaves it out.
"""

import importlib
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.surface import markdown
from tests.surface.tree import PACKAGE, ROOT, design_layers, modules, relative

from belljar.outcome import Outcome

EXAMPLES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [*EXAMPLES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
DESIGN = ROOT / "docs" / "design.md"
SECONDS = 60


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def examples(language: str) -> list[object]:
    return [
        pytest.param(block, id=f"{name(path)}:{block.line}")
        for path in EXAMPLES
        for block in markdown.blocks(path.read_text())
        if block.language == language and block.tested
    ]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "BELLJAR"))}
    commands = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": commands, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


def matches(expected: str, line: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, line) is not None


# Python blocks


def promised_output(source: str) -> list[str]:
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    return [found[1] for text in comments if (found := re.match(r"# -> (.*)", text))]


def first_missing(expected: list[str], output: list[str]) -> str | None:
    """The first expected line that is not in the output behind the one before it."""
    rest = iter(output)
    return next((want for want in expected if not any(matches(want, line.rstrip()) for line in rest)), None)


@pytest.mark.parametrize("block", examples("python"))
def test_python_example(block: markdown.Block, tmp_path: Path, need: Callable[..., None]) -> None:
    need("local")
    file = tmp_path / "example.py"
    file.write_text(block.text)
    done = subprocess.run(
        [sys.executable, file],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    missing = first_missing(promised_output(block.text), done.stdout.splitlines())
    assert missing is None, f"{missing!r} is not in its place in:\n{done.stdout}"


# Console blocks


@dataclass
class Step:
    """A line `$ command` and what is shown below it."""

    command: str
    shown: list[str]


def session(text: str) -> list[Step]:
    steps: list[Step] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], []))
        elif steps:
            steps[-1].shown.append(line)
        else:
            raise ValueError(f"output before the first command: {line}")
    return steps


def shows(expected: list[str], output: list[str]) -> bool:
    """Whether the output is what is shown, where a line `...` stands for any lines."""
    if not expected:
        return not output
    if expected[0].strip() == "...":
        return any(shows(expected[1:], output[start:]) for start in range(len(output) + 1))
    return bool(output) and matches(expected[0].rstrip(), output[0].rstrip()) and shows(expected[1:], output[1:])


def is_run(command: str) -> bool:
    return command == "echo $?" or re.search(r"(^|\|\s*)belljar\b", command) is not None


@pytest.mark.parametrize("block", examples("console"))
def test_console_example(block: markdown.Block, tmp_path: Path, need: Callable[..., None]) -> None:
    need("local")
    status = 0
    steps = session(block.text)
    for step, after in zip(steps, [*steps[1:], Step("", [])], strict=True):
        if found := re.fullmatch(r"cat ([\w.-]+)", step.command):
            (tmp_path / found[1]).write_text("".join(f"{line}\n" for line in step.shown))
        if not is_run(step.command):
            continue
        done = subprocess.run(
            ["bash", "-c", f"(exit {status})\n{step.command}"],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        status = done.returncode
        assert status == 0 or after.command == "echo $?", f"$ {step.command}: exit {status}\n{done.stdout}"
        if step.shown:
            assert shows(step.shown, done.stdout.splitlines()), f"$ {step.command}\n{done.stdout}"


# Links and names


@pytest.mark.parametrize("path", LINKED, ids=name)
def test_links(path: Path) -> None:
    for target in markdown.links(path.read_text()):
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), f"{target} does not exist"
        if anchor and there.suffix == ".md":
            assert anchor in markdown.anchors(there.read_text()), f"{target}: no such heading"


def test_design_names_what_exists() -> None:
    text = DESIGN.read_text()
    below = [str(path.relative_to(ROOT)) for path in ROOT.glob("src/**/*.py")]
    below += [str(path.relative_to(ROOT)) for path in ROOT.glob("tests/**/*.py")]
    missing = [
        file
        for file in sorted(set(re.findall(r"[\w./-]*\w\.py\b", text)))
        if not any(f"/{known}".endswith(f"/{file}") for known in below)
    ]
    missing += [
        folder
        for folder in sorted(set(re.findall(r"(?<![\w/.])((?:\w+/)+)(?![\w.])", text)))
        if not any((top / folder).is_dir() for top in (ROOT, PACKAGE, PACKAGE.parent))
    ]
    missing += [file for file in sorted(set(re.findall(r"scripts/\w+", text))) if not (ROOT / file).is_file()]
    assert missing == []


def test_every_module_is_in_the_design() -> None:
    text = DESIGN.read_text()
    named = set(re.findall(r"[\w/]*\w\.py\b|(?:\w+/)+", text))
    nouns = {noun for layer in design_layers() for noun in layer}

    def is_named(path: Path) -> bool:
        module = path.relative_to(PACKAGE)
        folders = {f"{parent}/" for parent in module.parents if str(parent) != "."}
        return bool(named & {str(module), *folders}) or module.stem in nouns or module.parts[0] in nouns

    unnamed = [relative(path) for path in modules() if not path.stem.startswith("__") and not is_named(path)]
    assert unnamed == []


# Outcomes


def plain(sentence: str) -> str:
    return sentence.rstrip(".").casefold()


def test_outcomes_are_the_documented_ones() -> None:
    rows = markdown.table((ROOT / "docs" / "outcomes.md").read_text(), "outcome")
    assert [row["outcome"] for row in rows] == [outcome.value for outcome in Outcome]
    assert [plain(row["meaning"]) for row in rows] == [plain(outcome.meaning) for outcome in Outcome]


def test_exit_codes_are_the_documented_ones() -> None:
    exits = importlib.import_module("belljar.cli.exits")
    rows = markdown.table((ROOT / "docs" / "outcomes.md").read_text(), "outcome")
    (column,) = [header for header in rows[0] if "exit" in header]
    documented = {row["outcome"]: row[column] for row in rows}
    assert documented == {outcome.value: str(exits.EXIT_CODES[outcome]) for outcome in Outcome}


# The helpers themselves


def test_output_is_compared_in_order() -> None:
    source = 'print("a")  # -> a\ntext = "# -> no"\nprint(1, 2)\n# -> 1 ...\n'
    assert promised_output(source) == ["a", "1 ..."]
    assert first_missing(["a", "1 ..."], ["a", "x", "1 2"]) is None
    assert first_missing(["1 ...", "a"], ["a", "1 2"]) == "a"


@pytest.mark.parametrize(
    ("shown", "output", "expected"),
    [
        (["a"], ["a"], True),
        (["a"], ["a", "b"], False),
        (["a", "..."], ["a", "b", "c"], True),
        (["...", "c"], ["a", "b", "c"], True),
        (["...", "c"], ["c", "b"], False),
        (["took ... ms"], ["took 3 ms"], True),
    ],
)
def test_shown_output(shown: list[str], output: list[str], expected: bool) -> None:
    assert shows(shown, output) is expected


def test_sessions_and_blocks() -> None:
    text = "```console\n$ cat a.py\nprint(1)\n$ belljar run \\\n    a.py\n1\n```\n"
    console, python = markdown.blocks(f"{text}\n<!-- no-test -->\n```python\nx\n```\n")
    assert [step.command for step in session(console.text)] == ["cat a.py", "belljar run      a.py"]
    assert (python.language, python.tested, console.tested) == ("python", False, True)
    assert [is_run(command) for command in ("belljar run a", "echo 3 | belljar run -", "pip install belljar")] == [
        True,
        True,
        False,
    ]


def test_links_tables_and_anchors() -> None:
    text = "# What, now?\n[a](b.md#c) `[x](y)` [o](https://o.org)\n\n| Outcome | Meaning |\n|---|---|\n"
    assert markdown.links(text) == ["b.md#c"]
    assert markdown.anchors(text) == {"what-now"}
    assert markdown.table(text + "| `ok` | fine |\n", "outcome") == [{"outcome": "ok", "meaning": "fine"}]
