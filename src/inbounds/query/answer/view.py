"""What is shown of an answer: names, expressions, which rows and in which order.

All of it is computed from what was released, when the answer is shown: it costs nothing, the ledger keeps what was
released, and the same request can be shown in another way later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from inbounds.query.answer.released.leaf import MeasureRef
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.question.measure import Measure

FREE = "computed from the released values, for free"


@dataclass(frozen=True)
class ViewColumn:
    """A column of the answer: an expression, by a name of its own or by that of what it is."""

    of: Node
    name: str | None = None

    def __str__(self) -> str:
        return str(self.of) if self.name is None else f"{self.of} AS {quote_name(self.name)}"


@dataclass(frozen=True)
class Order:
    """What rows are put in order by; what is missing comes last, unless it is to come first."""

    of: Node
    descending: bool = False
    missing_first: bool = False

    def __str__(self) -> str:
        return f"{self.of}{' DESC' if self.descending else ''}{' NULLS FIRST' if self.missing_first else ''}"


@dataclass(frozen=True)
class View:
    """How an answer is shown; if nothing is said, all of it as it was released."""

    columns: tuple[ViewColumn, ...] = ()
    """What is shown beside the keys; every measure if there are none."""
    keys: tuple[tuple[Node, str], ...] = ()
    """What columns grouped by are called, where that is not their name."""
    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0

    def __bool__(self) -> bool:
        return self != AS_RELEASED

    def replace_measures(self, change: Callable[[MeasureRef], Node]) -> View:
        """Return the same with something else in place of each measure."""

        def of_measure(node: Node) -> Node | None:
            return change(node) if isinstance(node, MeasureRef) else None

        return replace(
            self,
            columns=tuple(replace(column, of=column.of.transform(of_measure)) for column in self.columns),
            having=None if self.having is None else cast("Condition", self.having.transform(of_measure)),
            order=tuple(replace(order, of=order.of.transform(of_measure)) for order in self.order),
        )

    def with_measures(self, change: Callable[[Measure], Measure]) -> View:
        """Return the same of other measures."""
        return self.replace_measures(lambda ref: replace(ref, measure=change(ref.measure)))

    @property
    def clauses(self) -> list[str]:
        """What stands after GROUP BY in SQL."""
        clauses = [] if self.having is None else [f"HAVING {self.having}"]
        clauses += [f"ORDER BY {', '.join(map(str, self.order))}"] if self.order else []
        clauses += [] if self.limit is None else [f"LIMIT {self.limit}"]
        return [*clauses, f"OFFSET {self.offset}"] if self.offset else clauses

    def describe(self) -> str | None:
        """Say what is done with what was released; None if nothing is."""
        keys = [f"{key} AS {quote_name(name)}" for key, name in self.keys]
        columns = ", ".join([*keys, *(str(column) for column in self.columns)])
        text = "; ".join([*([columns] if columns else []), *self.clauses])
        return f"{text} ({FREE})" if text else None


AS_RELEASED = View()
"""Nothing is computed: all columns and rows, in the order of the contract."""
