"""Columns of other released SELECTs, beside what is released here: what they show is known, so this costs nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.question.measure import Measure


@dataclass(frozen=True)
class SourceColumn(Measure):
    """What a column of another released SELECT shows: it stands where a measure could."""

    source: int
    """Which of the other SELECTs it is, by place: from 0 those after FROM, from -1 downwards those in brackets."""
    column: int
    """Which of its columns, by place."""
    text: str = field(compare=False)
    """What it is in SQL."""

    @property
    def title(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class SourceKey(Node):
    """A key of another released SELECT, by the name of both."""

    source: str
    key: str

    @property
    def name(self) -> str:
        """What tells it from keys of other SELECTs."""
        return f"{self.source}.{self.key}"

    def __str__(self) -> str:
        return f"{quote_name(self.source)}.{quote_name(self.key)}"
