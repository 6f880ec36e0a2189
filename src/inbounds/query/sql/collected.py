"""The measures of a SELECT, each once, wherever they stand: what is released, and paid for."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.answer.released.leaf import MeasureRef, kind_of_measure
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.text import SqlText
from inbounds.query.question.measure import Measure
from inbounds.query.sql.measures import Measured, read_measure

MOST_MEASURES = 20
"""A question may have so many measures: each has a part of epsilon."""


class Collected:
    """The measures that have been read from a text."""

    def __init__(self, text: SqlText) -> None:
        self._text = text
        self._found: list[tuple[exp.Expr, Measured]] = []

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order in which they were read."""
        return tuple(measure for _, one in self._found for measure in (one.measure, *one.others))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Which rows they are about, besides WHERE."""
        return tuple(condition for _, one in self._found for condition in one.conditions)

    @property
    def histogram(self) -> tuple[Node, int | None] | None:
        """The column of a histogram and how many bins, if that is asked for."""
        return self._found[0][1].histogram if self._found else None

    def select(self, node: exp.Expr) -> list[MeasureRef]:
        """Read a measure that is selected as it is; a list of quantiles is several."""
        found = read_measure(self._text, node)
        if self._found:
            self._refuse_beside_histogram([*self._found, (node, found)])
        measures = (found.measure, *found.others)
        if len(set(measures)) < len(measures):
            self._text.refuse(node, "this measure appears twice; leave it out here")
        if any(one.measure == found.measure and one.conditions != found.conditions for _, one in self._found):
            self._refuse_of_other_rows([*self._found, (node, found)])
        self._add(node, found)
        return [self.of(one) for one in measures]

    def call(self, node: exp.Expr) -> MeasureRef:
        """Read a measure that stands in an expression, which may have been read before."""
        found = read_measure(self._text, node)
        if found.others:
            self._text.refuse(node, "QUANTILES gives several numbers; write QUANTILE(column, level) in an expression")
        if found.histogram is not None:
            self._text.refuse(node, f"{node.name.upper()} gives a table of numbers; select it as it is")
        self._add(node, found)
        return self.of(found.measure)

    def _add(self, node: exp.Expr, found: Measured) -> None:
        """Note what is to be released, unless it was noted before."""
        if any(_is_released_by(one, found) for _, one in self._found):
            return
        if len(self._found) >= MOST_MEASURES:
            self._text.refuse(node, f"a question may have at most {MOST_MEASURES} measures; ask for fewer")
        self._found.append((node, found))

    def of(self, measure: Measure) -> MeasureRef:
        """Return what is released of a measure."""
        return MeasureRef(measure, kind_of_measure(self._text.columns, measure))

    def _refuse_beside_histogram(self, found: list[tuple[exp.Expr, Measured]]) -> None:
        for node, one in found:
            if one.histogram is not None:
                told = f"{node.name.upper()} cannot be combined with other measures; ask for it in a separate query"
                self._text.refuse(node, told)

    def _refuse_of_other_rows(self, found: list[tuple[exp.Expr, Measured]]) -> None:
        for node, one in found:
            if one.conditions:
                self._text.refuse(
                    node,
                    "beside other measures, rows can only be counted with COUNT(*); write that, or ask for it in a "
                    "question of its own",
                )

    def refuse_not_together(self) -> None:
        """Refuse what would be about other rows than the measures beside it, and what is asked for twice."""
        if len(self.measures) == 1:
            return
        self._refuse_beside_histogram(self._found)
        self._refuse_of_other_rows(self._found)
        for i, (node, one) in enumerate(self._found):
            before = {measure for _, other in self._found[:i] for measure in (other.measure, *other.others)}
            if before.intersection((one.measure, *one.others)):
                self._text.refuse(node, "this measure appears twice; leave it out here")


def _is_released_by(one: Measured, found: Measured) -> bool:
    """Return whether what was found is released by something before it; COUNT(*) by a histogram, for each bin."""
    plain = not found.others and found.histogram is None and found.conditions == one.conditions
    return one == found or (plain and found.measure in (one.measure, *one.others))
