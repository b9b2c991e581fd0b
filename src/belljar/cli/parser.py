"""The words of a command line, read by argparse; what is wrong with them is said in one sentence.

Argparse, since a library that is friendlier takes longer to import than a run does (pydantic alone 44 ms).
"""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING, NoReturn

from belljar.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_COLUMNS = 100


class Parser(argparse.ArgumentParser):
    """One command. Options may stand between its words; all that follows -- is words."""

    def __init__(self, name: str, text: str, after: str, *, words: str = "") -> None:
        super().__init__(
            prog=f"belljar {name}".strip(),
            usage=" ".join(part for part in ("%(prog)s [OPTIONS]", words) if part),
            description=text,
            epilog=after,
            formatter_class=_Paragraphs,
            add_help=False,
            allow_abbrev=False,
        )
        self.add_argument("-h", "--help", action="help", help="Show this message and exit.")
        self._optionals.title = "Options"
        self._takes_words = bool(words)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The options by name; the other words in their order, as `words`. SystemExit after the help."""
        end = list(words).index("--") if "--" in words else len(words)
        found, others = self.parse_known_args(self._joined(words[:end]))
        for word in others:
            if word.startswith("-") and word != "-":
                raise self._unknown(word)
        found.words = [*others, *words[end + 1 :]]
        if found.words and not self._takes_words:
            raise UsageError(f"`{self.prog}` takes no '{found.words[0]}' (see {self.prog} --help).", field="words")
        return found

    def error(self, message: str) -> NoReturn:
        """What argparse has to say of a mistake."""
        raise UsageError(f"{message} (see {self.prog} --help).", field="words")

    def flags(self) -> list[list[str]]:
        """The names of each option."""
        return [list(action.option_strings) for action in self._actions]

    def _joined(self, words: Sequence[str]) -> list[str]:
        """The words with each option and its value as one, so that a value may begin with a dash."""
        valued = {flag for action in self._actions if action.nargs is None for flag in action.option_strings}
        joined: list[str] = []
        rest = iter(words)
        for word in rest:
            value = next(rest, None) if word in valued else None
            if value is None:
                joined.append(word)
            elif value.startswith("-"):
                joined.append(f"{word}={value}" if word.startswith("--") else f"{word}{value}")
            else:
                joined += [word, value]
        return joined

    def _unknown(self, word: str) -> UsageError:
        from difflib import get_close_matches

        known = [flag for flags in self.flags() for flag in flags]
        near = get_close_matches(word.partition("=")[0], known, n=1)
        guess = f" Did you mean {near[0]}?" if near else ""
        words = " Words for the program that begin with - come behind --." if self._takes_words else ""
        return UsageError(f"`{self.prog}` has no option {word}.{guess}{words}", field="words")


class _Paragraphs(argparse.HelpFormatter):
    """Paragraphs are filled each by itself; lines that are indented stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)
        self._width = min(self._width, _MOST_COLUMNS)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, prefix or "Usage: ")

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(self._filled(part, width, indent) for part in text.strip().split("\n\n"))

    @staticmethod
    def _filled(paragraph: str, width: int, indent: str) -> str:
        if "\n  " in paragraph:
            return textwrap.indent(paragraph, indent)
        return textwrap.fill(" ".join(paragraph.split()), width, initial_indent=indent, subsequent_indent=indent)
