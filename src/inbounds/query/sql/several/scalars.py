"""A SELECT in brackets that releases one value, in an expression: `COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from inbounds.query.answer.released.evaluate import kind_of_node
from inbounds.query.answer.released.leaf import MeasureRef
from inbounds.query.answer.released.source_column import SourceColumn
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.sql.several.statement import Statement, is_key

MOST_SCALARS = 20
"""So many may stand in one SELECT: each has a part of epsilon."""


class Scalars:
    """Reads the SELECTs in brackets of one SELECT, and collects what they ask, each once."""

    def __init__(self, text: SqlText, read: Callable[[exp.Expr], Statement], before: Sequence[Statement] = ()) -> None:
        self._text, self._read = text, read
        self.statements = list(before)

    def read(self, node: exp.Subquery) -> Node:
        """Return what stands for the value."""
        text = self._text
        if node.args.get("alias") is not None or not isinstance(node.this, exp.Select):
            text.refuse(node, f"one value is needed here, got {kind(node)}; write (SELECT COUNT(*) FROM …)")
        text.take(node, "this")
        parts = text.parts
        statement = self._read(node.this)
        text.parts = parts
        shown = statement.shown
        if len(shown.columns) != 1 or is_key(shown.columns[0]) or not shown.is_single:
            text.refuse(
                node,
                f"a SELECT in brackets here must give one value, got {kind(node)}; select one measure, without "
                "GROUP BY",
            )
        if statement not in self.statements:
            if len(self.statements) >= MOST_SCALARS:
                text.refuse(node, f"at most {MOST_SCALARS} SELECTs may stand in another; ask for fewer")
            self.statements.append(statement)
        place = self.statements.index(statement)
        written = f"({node.this.sql(dialect='duckdb')})"
        return MeasureRef(SourceColumn(-1 - place, 0, written), kind_of_node(shown.columns[0]))
