"""Values made of values: arithmetic, functions, and CASE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from inbounds.query.expressions.node import Node

if TYPE_CHECKING:
    from inbounds.query.expressions.condition import Condition

Operator = Literal["+", "-", "*", "/"]

BINDING: dict[Operator, int] = {"+": 1, "-": 1, "*": 2, "/": 2}


@dataclass(frozen=True)
class Binary(Node):
    """Two expressions added, subtracted, multiplied or divided."""

    operator: Operator
    left: Node
    right: Node

    def parts(self) -> tuple[Node, ...]:
        """Return both sides."""
        return self.left, self.right

    @property
    def binding(self) -> int:  # type: ignore[override]
        """How strongly it holds together: a product more than a sum."""
        return BINDING[self.operator]

    def __str__(self) -> str:
        left = f"({self.left})" if self.left.binding < self.binding else str(self.left)
        right = f"({self.right})" if self.right.binding <= self.binding else str(self.right)
        return f"{left} {self.operator} {right}"


@dataclass(frozen=True)
class Apart(Node):
    """How far two columns are from holding the same: zero where they do, whatever they hold."""

    left: Node
    right: Node

    def parts(self) -> tuple[Node, ...]:
        """Return both sides."""
        return self.left, self.right

    def __str__(self) -> str:
        return f"({self.left} <=> {self.right})"


@dataclass(frozen=True)
class Negative(Node):
    """A number with the other sign."""

    this: Node
    binding = 0

    def parts(self) -> tuple[Node, ...]:
        """Return the number."""
        return (self.this,)

    def __str__(self) -> str:
        text = str(self.this)  # two signs in a row would begin a comment
        return f"-({text})" if self.this.binding < Node.binding or text.startswith("-") else f"-{text}"


CAST_TO = {"TIMEOFDAY": "TIME", "TEXTOF": "TEXT"}
"""Functions that are written as CAST, and to which type."""


@dataclass(frozen=True)
class Call(Node):
    """A function of expressions."""

    function: str
    arguments: tuple[Node, ...]

    def parts(self) -> tuple[Node, ...]:
        """Return what it is given."""
        return self.arguments

    def __str__(self) -> str:
        if self.function in CAST_TO:
            return f"CAST({self.arguments[0]} AS {CAST_TO[self.function]})"
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Chain(Node):
    """Texts one after the other."""

    texts: tuple[Node, ...]
    binding = 1

    def parts(self) -> tuple[Node, ...]:
        """Return the texts."""
        return self.texts

    def __str__(self) -> str:
        return " || ".join(f"({text})" if text.binding <= self.binding else str(text) for text in self.texts)


@dataclass(frozen=True)
class Case(Node):
    """The expression of the first condition that is true, or another one, or nothing."""

    branches: tuple[tuple[Condition, Node], ...]
    otherwise: Node | None = None

    @property
    def tests(self) -> tuple[Condition, ...]:
        """The conditions."""
        return tuple(test for test, _ in self.branches)

    @property
    def choices(self) -> tuple[Node, ...]:
        """What it chooses from."""
        values = tuple(value for _, value in self.branches)
        return values if self.otherwise is None else (*values, self.otherwise)

    def parts(self) -> tuple[Node, ...]:
        """Return the conditions, and what they choose from."""
        return *self.tests, *self.choices

    def __str__(self) -> str:
        branches = " ".join(f"WHEN {test} THEN {value}" for test, value in self.branches)
        return f"CASE {branches}{'' if self.otherwise is None else f' ELSE {self.otherwise}'} END"


def cases_in(node: Node) -> Iterator[Case]:
    """Yield each CASE in an expression; not those that are inside a condition."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Case):
            yield part
            pending.extend(part.choices)
        else:
            pending.extend(part.parts())
