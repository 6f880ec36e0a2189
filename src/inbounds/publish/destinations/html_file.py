"""One page of HTML that needs nothing else: tables, charts, how to read them, and the report itself inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any

from inbounds.exact.rational import shown
from inbounds.publish.destinations.comparison import describe_change
from inbounds.publish.destinations.destination import FileDestination
from inbounds.publish.destinations.page.whole_page import DATA_BEGINS, DATA_ENDS, GENERATOR, make_page
from inbounds.report.report import Report

_GENERATOR = re.compile(r'<meta name="generator" content="([^"]*)">')
_TAG = re.compile(r"<[^>]*>")


class HtmlFile(FileDestination):
    """A page."""

    def make(self, report: Report, draft: Path) -> None:
        draft.write_text(make_page(report), "utf-8", newline="\n")

    def _text(self) -> str:
        return self.content().decode("utf-8", "replace")

    def stored(self) -> dict[str, Any]:
        _, begins, rest = self._text().partition(DATA_BEGINS)
        data, ends, _ = rest.partition(DATA_ENDS)
        if not begins or not ends:
            raise self.no_report()
        return self.read_stored(unescape(data))

    def faults(self, report: Report) -> Iterator[str]:
        """Yield where the page is another than the one that its report makes: no number may differ, and no word."""
        found, published = self._text(), make_page(report)
        if found == published:
            return
        by = _GENERATOR.search(found)
        if by is None or by[1] != GENERATOR:
            writer = shown(by[1]) if by else "another program"
            yield f"it was written by {writer}; verify it with that, not with {GENERATOR!r}"
            return
        pairs = zip_longest(found.split("\n"), published.split("\n"), fillvalue="")
        for number, (line, meant) in enumerate(pairs, 1):
            if line != meant:
                texts = _words(line), _words(meant)
                is_now, was = texts if texts[0] != texts[1] else (line, meant)
                yield f"line {number}: {describe_change(is_now, was)}"
                return


def _words(line: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", line)).split())
