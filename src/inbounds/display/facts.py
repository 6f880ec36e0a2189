"""Names and values, one under the other: plain text of 80 columns, or HTML for notebooks.

    facts = FactSheet([("epsilon", "0.5 for everything together"), ("answers", "12")], title="What will be done")
    str(facts), facts.html()

A long value goes on under its beginning.  As in tables, texts are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from inbounds.display.text import WIDTH, escape_html, fit, printable, text_width

LONGEST_NAME = 30
"""A name that is longer has a line of its own."""


@dataclass(frozen=True)
class FactSheet:
    """Names and values, under a title."""

    rows: Sequence[tuple[str, str]]
    title: str = ""

    def __str__(self) -> str:
        names = [printable(name) for name, _ in self.rows]
        indent = max((text_width(name) for name in names if text_width(name) <= LONGEST_NAME), default=2) + 2
        lines = [*wrap(printable(self.title), WIDTH), ""] if self.title else []
        for name, (_, value) in zip(names, self.rows, strict=True):
            first, *rest = wrap(printable(value), WIDTH - indent, break_on_hyphens=False) or [""]
            above = [] if text_width(name) <= LONGEST_NAME else wrap(name, WIDTH)
            label = fit("" if above else name, indent, left=True)
            lines += [*above, (label + first).rstrip(), *(" " * indent + line for line in rest)]
        return "\n".join(lines)

    def html(self) -> str:
        """Write it for a notebook or a page."""
        caption = f"<caption>{escape_html(self.title)}</caption>" if self.title else ""
        body = "".join(_html_row(name, value) for name, value in self.rows)
        return f"<table>{caption}<tbody>{body}</tbody></table>"


def _html_row(name: str, value: str) -> str:
    left = 'style="text-align:left"'
    return f'<tr><th scope="row" {left}>{escape_html(name)}</th><td {left}>{escape_html(value)}</td></tr>'
