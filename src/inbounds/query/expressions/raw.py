"""What an identifier or a free text says of a row: whether it is there, fits a pattern, is one of a list, or its part.

Nothing is known of its values, so what is made of them is one of a few constants that the question itself gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.expressions.node import Node, literal, quote_name

MOST_CHARACTERS = 1_000_000
"""A part of a text begins and ends before so many characters: beyond what they can count, engines fail at a row."""

RawFunction = Literal["PRESENT", "LIKE", "ILIKE", "IN", "PART"]


@dataclass(frozen=True)
class Raw(Node):
    """A test of a raw column, or a part of it that is one of some texts."""

    column: str
    function: RawFunction
    arguments: tuple[str | int, ...] = ()
    """The pattern, the texts of a list, or where a part begins and how long it is."""
    keys: tuple[str, ...] = ()
    """What a part can be: the texts that the question lists."""

    def __post_init__(self) -> None:
        if self.function != "PART" or not self.arguments:
            return
        start, *length = (int(at) for at in self.arguments)
        if start < 1 or max(start, *length, 1) > MOST_CHARACTERS:
            raise InvalidQuestion(
                f"a part of a text begins at a character from 1 to {MOST_CHARACTERS}, got "
                f"{shown(self.text)}; write it like SUBSTRING({quote_name(self.column)}, 1, 2)"
            )

    @property
    def written(self) -> str:
        """The column, as it is written."""
        return quote_name(self.column)

    @property
    def text(self) -> str:
        """The column, or the part of it."""
        column = self.written
        if self.function != "PART":
            return column
        return f"SUBSTRING({column}, {', '.join(map(str, self.arguments))})" if self.arguments else column

    @property
    def name(self) -> str:
        if self.function == "PART":
            return f"{self.text} [{', '.join(map(literal, self.keys))}]"
        return str(self)

    def of(self, column: str) -> Raw:
        """Return the same of a column by another name."""
        return replace(self, column=column)

    def __str__(self) -> str:
        match self.function:
            case "PRESENT":
                return f"{self.text} IS NOT NULL"
            case "IN":
                return f"{self.text} IN ({', '.join(map(literal, self.arguments))})"
            case "PART":
                return self.text
        return f"{self.text} {self.function} {literal(self.arguments[0])}"
