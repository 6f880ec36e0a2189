"""The measures of a SELECT, each once, wherever they stand: what is released, and paid for."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.answer.released.leaf import MeasureRef, kind_of_measure
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.text import SqlText
from inbounds.query.question.measure import Measure
from inbounds.query.sql.measures import MeasureCall, read_measure

MOST_MEASURES = 20
"""A question may have so many measures: each has a part of epsilon."""


class MeasureCalls:
    """The calls of measures that have been read from a text."""

    def __init__(self, text: SqlText) -> None:
        self._text = text
        self._calls: list[tuple[exp.Expr, MeasureCall]] = []

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order in which they were read."""
        return tuple(measure for _, call in self._calls for measure in call.measures)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Which rows they are about, besides WHERE."""
        return tuple(condition for _, call in self._calls for condition in call.conditions)

    @property
    def histogram(self) -> tuple[Node, int | None] | None:
        """The column of a histogram and how many bins, if that is asked for."""
        return self._calls[0][1].histogram if self._calls else None

    def read_selected(self, node: exp.Expr) -> list[MeasureRef]:
        """Read a measure that is selected as it is; a list of quantiles is several."""
        call = read_measure(self._text, node)
        if self._calls:
            self._refuse_beside_histogram([*self._calls, (node, call)])
        if len(set(call.measures)) < len(call.measures):
            self._text.refuse(node, "this measure appears twice; leave it out here")
        if any(earlier.measure == call.measure and earlier.conditions != call.conditions for _, earlier in self._calls):
            self._refuse_of_other_rows([*self._calls, (node, call)])
        self._add(node, call)
        return [self.to_ref(measure) for measure in call.measures]

    def read_in_expression(self, node: exp.Expr) -> MeasureRef:
        """Read a measure that stands in an expression, which may have been read before."""
        call = read_measure(self._text, node)
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

    def _refuse_of_other_rows(self, calls: list[tuple[exp.Expr, MeasureCall]]) -> None:
        """Refuse COUNT(column) beside others: it leaves rows out, and all measures of a SELECT are of the same rows."""
        for node, call in calls:
            if call.conditions:
                self._text.refuse(
                    node,
                    "beside other measures, rows can only be counted with COUNT(*); write that, or ask for it in a "
                    "question of its own",
                )

    def refuse_not_together(self) -> None:
        """Refuse what would be about other rows than the measures beside it, and what is asked for twice."""
        if len(self.measures) == 1:
            return
        self._refuse_beside_histogram(self._calls)
        self._refuse_of_other_rows(self._calls)
        for i, (node, call) in enumerate(self._calls):
            before = {measure for _, earlier in self._calls[:i] for measure in earlier.measures}
            if before.intersection(call.measures):
                self._text.refuse(node, "this measure appears twice; leave it out here")


def _is_released_by(earlier: MeasureCall, call: MeasureCall) -> bool:
    """Return whether what a call asks is released by an earlier one; COUNT(*) by a histogram, for each bin."""
    plain = not call.others and call.histogram is None and call.conditions == earlier.conditions
    return earlier == call or (plain and call.measure in earlier.measures)
