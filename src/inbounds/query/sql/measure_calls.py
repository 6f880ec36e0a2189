"""The measures of a SELECT, each once, wherever they stand: what is released, and paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.released.leaf import MeasureRef, kind_of_measure
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.question.among import among
from inbounds.query.question.measure import Measure
from inbounds.query.sql.measures import MEASURES, MeasureCall, read_measure

MOST_MEASURES = 20
"""A question may have so many measures: each has a part of epsilon."""


class MeasureCalls:
    """The calls of measures that have been read from a text."""

    def __init__(self, text: SqlText) -> None:
        self._text = text
        self._calls: list[tuple[exp.Expr, MeasureCall]] = []
        self._are_alike = True
        """Whether all measures are of the same rows."""

    def look_ahead(self, tree: exp.Select, keys: Sequence[Node]) -> None:
        """Find out whether all measures of a SELECT are of the same rows."""
        text = self._text
        counted = text.conditions, text.parts
        try:
            calls = [read_measure(text, node) for node in find_measures(tree)]
        except InvalidQuestion:  # which is refused once more, where it is read
            return
        finally:
            text.conditions, text.parts = counted
        rows = {call.conditions for call in calls}
        # Groups that a condition after WHERE rules out are left out of the answer, those of a measure have none.
        looked_at = {name for conditions in rows for test in conditions for name in self._stored(test.columns())}
        self._are_alike = len(rows) < 2 and looked_at.isdisjoint(self._stored(keys))

    def _stored(self, nodes: Iterable[Node]) -> set[str]:
        """Return the columns of the table that some are made of."""
        columns = (self._text.fit(None, lambda table, node=node: table.column(node)) for node in nodes)  # type: ignore[misc]
        return {name for column in columns if column is not None for name in column.stored}

    def _read(self, node: exp.Expr) -> MeasureCall:
        """Read a measure; if others are of other rows, as one of all rows in which some have no value."""
        call = read_measure(self._text, node)
        if self._are_alike or not call.conditions:
            return call
        measures = [among(measure, call.conditions) for measure in call.measures]
        there = [measure for measure in measures if measure is not None]
        if len(there) < len(measures) or call.histogram is not None:
            self._text.refuse(
                node,
                f"{kind(node)} is about other rows than the measures beside it; ask for it in a question of its own",
            )
        first, *others = there
        return MeasureCall(first, others=tuple(others))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order in which they were read."""
        return tuple(measure for _, call in self._calls for measure in call.measures)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Which rows they are about, besides WHERE."""
        return tuple(dict.fromkeys(condition for _, call in self._calls for condition in call.conditions))

    @property
    def histogram(self) -> tuple[Node, int | None] | None:
        """The column of a histogram and how many bins, if that is asked for."""
        return self._calls[0][1].histogram if self._calls else None

    def read_selected(self, node: exp.Expr) -> list[MeasureRef]:
        """Read a measure that is selected as it is; a list of quantiles is several."""
        call = self._read(node)
        if self._calls:
            self._refuse_beside_histogram([*self._calls, (node, call)])
        if len(set(call.measures)) < len(call.measures):
            self._text.refuse(node, "this measure appears twice; leave it out here")
        self._add(node, call)
        return [self.to_ref(measure) for measure in call.measures]

    def read_in_expression(self, node: exp.Expr) -> MeasureRef:
        """Read a measure that stands in an expression, which may have been read before."""
        call = self._read(node)
        if call.others:
            self._text.refuse(node, "QUANTILES gives several numbers; write QUANTILE(column, level) in an expression")
        if call.histogram is not None:
            self._text.refuse(node, f"{node.name.upper()} gives a table of numbers; select it as it is")
        self._add(node, call)
        return self.to_ref(call.measure)

    def _add(self, node: exp.Expr, call: MeasureCall) -> None:
        """Note what is to be released, unless it was noted before."""
        if any(_is_released_by(earlier, call) for _, earlier in self._calls):
            return
        if len(self._calls) >= MOST_MEASURES:
            self._text.refuse(node, f"a question may have at most {MOST_MEASURES} measures; ask for fewer")
        self._calls.append((node, call))

    def to_ref(self, measure: Measure) -> MeasureRef:
        """Return what is released of a measure."""
        return MeasureRef(measure, kind_of_measure(self._text.columns, measure))

    def _refuse_beside_histogram(self, calls: list[tuple[exp.Expr, MeasureCall]]) -> None:
        for node, call in calls:
            if call.histogram is not None:
                why = f"{node.name.upper()} cannot be combined with other measures; ask for it in a separate query"
                self._text.refuse(node, why)

    def refuse_not_together(self) -> None:
        """Refuse what goes with no other measure, and what is asked for twice."""
        if len(self.measures) == 1:
            return
        self._refuse_beside_histogram(self._calls)
        for i, (node, call) in enumerate(self._calls):
            before = {measure for _, earlier in self._calls[:i] for measure in earlier.measures}
            if before.intersection(call.measures):
                self._text.refuse(node, "this measure appears twice; leave it out here")


def find_measures(tree: exp.Select) -> Iterator[exp.Expr]:
    """Yield the measures that a SELECT asks for, not those of a SELECT inside it."""
    clauses = (tree.args.get("having"), tree.args.get("order"), tree.args.get("qualify"))
    pending = [*tree.expressions, *(clause for clause in clauses if clause is not None)]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Window):  # a function of released rows, whatever it is called
            of = node.this.this if isinstance(node.this, exp.IgnoreNulls | exp.RespectNulls) else node.this
            pending += [part for part in node.iter_expressions() if part is not node.this]
            pending += list(of.iter_expressions())
        elif isinstance(node, exp.WithinGroup) or function_name(node) in MEASURES:
            yield node
        elif not isinstance(node, exp.Select | exp.Subquery):
            pending += list(node.iter_expressions())


def _is_released_by(earlier: MeasureCall, call: MeasureCall) -> bool:
    """Return whether what a call asks is released by an earlier one; COUNT(*) by a histogram, for each bin."""
    plain = not call.others and call.histogram is None and call.conditions == earlier.conditions
    return earlier == call or (plain and call.measure in earlier.measures)
