"""One version everywhere."""

import re

from tests.surface.tree import ROOT

from belljar.version import __version__


def test_newest_changelog_entry_is_this_version() -> None:
    headings = re.findall(r"^## (\S+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings, 'no heading like "## 0.1.0 - unreleased" or "## 0.1.0 - 2026-01-31"'
    assert headings[0][0] == __version__
    for version, date in headings:
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d|unreleased", date)
    assert [date for _, date in headings[1:] if date == "unreleased"] == []
