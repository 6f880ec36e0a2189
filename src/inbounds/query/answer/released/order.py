"""What rows of an answer are put in order by."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.query.expressions.node import Node


@dataclass(frozen=True)
class Order(Node):
    """What rows are put in order by; what is missing comes last, unless it is to come first."""

    of: Node
    descending: bool = False
    missing_first: bool = False

    def parts(self) -> tuple[Node, ...]:
        """Return what rows are put in order by."""
        return (self.of,)

    def __str__(self) -> str:
        return f"{self.of}{' DESC' if self.descending else ''}{' NULLS FIRST' if self.missing_first else ''}"
