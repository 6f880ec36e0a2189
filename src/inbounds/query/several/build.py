"""From a statement that was read to what it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.released.leaf import MeasureRef
from inbounds.query.answer.released.source_column import SourceColumn
from inbounds.query.answer.view import View
from inbounds.query.query import Query
from inbounds.query.several.joined import Joined, Source
from inbounds.query.several.piece import Asked, Columns, Piece, Pivoted, Scalars, Values
from inbounds.query.several.united import United
from inbounds.query.sql.select import Select
from inbounds.query.sql.several.statement import (
    ColumnsSelect,
    JoinedSelects,
    PivotedSelect,
    SelectSource,
    Statement,
    UnitedSelects,
    ValuesSelect,
    is_key,
)

MOST_PIECES = 200
"""So many SELECTs may be put together, each as often as it is named."""


class Builder:
    """Makes pieces of statements; `build` makes the query of a SELECT."""

    def __init__(self, build: Callable[[Select], Query]) -> None:
        self._build = build
        self._count = 0

    def piece(self, statement: Statement | PivotedSelect | ColumnsSelect) -> Piece:
        """Return what a statement shows."""
        self._count += 1
        if self._count > MOST_PIECES:
            raise InvalidQuestion(
                f"at most {MOST_PIECES} SELECTs can be put together, each as often as it is named; leave some out"
            )
        match statement:
            case Select():
                query = self._build(statement)
                scalars, view = self._scalars(statement.beside, query.shown)
                return Asked(replace(query, shown=view), scalars)
            case ValuesSelect():
                scalars, view = self._scalars(statement.beside, statement.view)
                return Values(view, scalars)
            case JoinedSelects():
                scalars, view = self._scalars(statement.beside, statement.view)
                return Joined(tuple(map(self._source, statement.sources)), view, scalars)
            case UnitedSelects():
                return self._unite(statement)
            case ColumnsSelect():
                return Columns(statement.columns, statement.text)
            case PivotedSelect():
                return Pivoted(self.piece(statement.select), statement.key, statement.text)

    def _scalars(self, beside: Sequence[Statement], view: View) -> tuple[Scalars, View]:
        """Return the single values beside a SELECT, and its view with what they are in SQL."""
        pieces = tuple(map(self.piece, beside))
        columns = tuple(SourceColumn(-1 - place, 0, f"({piece})") for place, piece in enumerate(pieces))

        def name(ref: MeasureRef) -> MeasureRef:
            measure = ref.measure
            is_scalar = isinstance(measure, SourceColumn) and measure.source < 0
            return replace(ref, measure=columns[-1 - measure.source]) if is_scalar else ref  # type: ignore[attr-defined]

        return Scalars(pieces, columns), view.replace_measures(name)

    def _source(self, source: SelectSource) -> Source:
        return Source(
            self.piece(source.statement),
            source.name,
            source.refs,
            source.on,
            source.keep,
            source.chooses,
        )

    def _unite(self, statement: UnitedSelects) -> United:
        columns = statement.shown.columns
        measured = tuple(place for place, column in enumerate(columns) if not is_key(column))
        return United(tuple(map(self.piece, statement.branches)), tuple(column.column for column in columns), measured)
