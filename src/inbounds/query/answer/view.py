"""What is shown of an answer: names, expressions, which rows and in which order.

All of it is computed from what was released, when the answer is shown: it costs nothing, the ledger keeps what was
released, and the same request can be shown in another way later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import cast

from inbounds.query.answer.released.leaf import KeyRef, MeasureRef, Named, measures_in
from inbounds.query.answer.released.needed_cells import IsOne, needed_cells, never
from inbounds.query.answer.released.order import Order
from inbounds.query.answer.released.window import windows_in
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.question.measure import Measure

FREE = "computed from the released values, for free"


@dataclass(frozen=True)
class ViewColumn:
    """A column of the answer: an expression, by a name of its own or by that of what it is."""

    of: Node
    name: str | None = None

    @property
    def key(self) -> KeyRef | None:
        """The key that it shows, maybe through SELECTs inside; None if it shows something else."""
        of = self.of
        while isinstance(of, Named):
            of = of.of
        return of if isinstance(of, KeyRef) else None

    @property
    def given_name(self) -> str | None:
        """What it is called whatever stands beside it; None for what is made of measures and has no name of its own."""
        if self.name is not None or self.key is None:
            return self.name
        return self.of.of.name if isinstance(self.of, KeyRef) else self.of.name

    def __str__(self) -> str:
        return str(self.of) if self.name is None else f"{self.of} AS {quote_name(self.name)}"


@dataclass(frozen=True)
class View:
    """How an answer is shown; if nothing is said, all of it as it was released."""

    columns: tuple[ViewColumn, ...] = ()
    """What is shown, in this order; if there are none, every key and then every measure."""
    having: Condition | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    qualify: Condition | None = None
    """Which rows are shown of those that windows look at."""
    inner: View | None = None
    """What the SELECT inside shows, if this is computed from that."""
    grouped: tuple[Node, ...] | None = None
    """The keys that rows of the SELECT inside are grouped by; None if they stay as they are."""

    def __bool__(self) -> bool:
        return self != AS_RELEASED

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Everything that is looked at to show it, without what a SELECT inside looks at for itself."""
        conditions = tuple(test for test in (self.having, self.qualify) if test is not None)
        return *(column.of for column in self.columns), *conditions, *self.order

    @property
    def shows_keys_alone(self) -> bool:
        """Whether it shows keys only, and public keys alone say which."""
        return all(column.key is not None for column in self.columns) and self.shows_public_rows

    @property
    def needs_measures(self) -> bool:
        """Whether anything that is released must be known for it; what SELECTs inside only select need not be."""
        return self._chooses_by_measures or not self._chosen_by(*(column.of for column in self.columns))

    @property
    def _chooses_by_measures(self) -> bool:
        """Whether measures say which rows it shows, or in which order."""
        inside = self.inner is not None and self.inner._chooses_by_measures
        return inside or not self._chosen_by(self.having, self.qualify, *self.order)

    @property
    def has_public_rows(self) -> bool:
        """Whether public keys alone say which rows windows look at."""
        return self._chosen_by(self.having) and (self.inner is None or self.inner.shows_public_rows)

    @property
    def shows_public_rows(self) -> bool:
        """Whether public keys alone say which rows are shown."""
        by = self.order if self.limit is not None or self.offset else ()
        return self.has_public_rows and self._chosen_by(self.qualify, *by)

    @staticmethod
    def _chosen_by(*nodes: Node | None) -> bool:
        return not any(node is not None and measures_in(node) for node in nodes)

    def most_at_once(self, measures: Iterable[Measure], rows: int, is_one: IsOne = never) -> list[int]:
        """Return for each measure how many released numbers must lie in their intervals for one that it is in.

        A window that `is_one` has an interval of its own.
        """
        columns = [
            needed_cells(column.of, rows, is_one) if self.has_public_rows or not any(windows_in(column.of)) else None
            for column in self.columns
        ]
        return [
            max((needed.total() for needed in columns if needed is not None and measure in needed), default=1)
            for measure in measures
        ]

    def replace_measures(self, change: Callable[[MeasureRef], Node]) -> View:
        """Return the same with something else in place of each measure."""

        def of_measure(node: Node) -> Node | None:
            return change(node) if isinstance(node, MeasureRef) else None

        def condition(test: Condition | None) -> Condition | None:
            return None if test is None else cast("Condition", test.transform(of_measure))

        return replace(
            self,
            columns=tuple(replace(column, of=column.of.transform(of_measure)) for column in self.columns),
            having=condition(self.having),
            qualify=condition(self.qualify),
            order=tuple(cast("Order", order.transform(of_measure)) for order in self.order),
            inner=None if self.inner is None else self.inner.replace_measures(change),
        )

    def with_measures(self, change: Callable[[Measure], Measure]) -> View:
        """Return the same of other measures."""
        return self.replace_measures(lambda ref: replace(ref, measure=change(ref.measure)))

    @property
    def clauses(self) -> list[str]:
        """What stands after GROUP BY in SQL, or after an inner SELECT."""
        chosen, then = "HAVING" if self.inner is None else "WHERE", "QUALIFY" if self.grouped is None else "HAVING"
        clauses = [] if self.having is None else [f"{chosen} {self.having}"]
        clauses += [f"GROUP BY {', '.join(map(str, self.grouped))}"] if self.grouped else []
        clauses += [] if self.qualify is None else [f"{then} {self.qualify}"]
        clauses += [f"ORDER BY {', '.join(map(str, self.order))}"] if self.order else []
        clauses += [] if self.limit is None else [f"LIMIT {self.limit}"]
        return [*clauses, f"OFFSET {self.offset}"] if self.offset else clauses

    def describe(self) -> str | None:
        """Say what is done with what was released; None if nothing is."""
        steps = "; of that: ".join(step for step in self._describe_steps() if step)
        return f"{steps} ({FREE})" if steps else None

    def _describe_steps(self) -> list[str]:
        columns = ", ".join(map(str, self.columns))
        text = "; ".join([*([columns] if columns else []), *self.clauses])
        return [*([] if self.inner is None else self.inner._describe_steps()), text]


def write_over(view: View, inner: str) -> str:
    """Return a SELECT about what another one shows, in SQL."""
    assert view.inner is not None
    return " ".join([f"SELECT {', '.join(map(str, view.columns))} FROM ({inner}) AS t", *view.clauses])


AS_RELEASED = View()
"""Nothing is computed: all columns and rows, in the order of the contract."""
