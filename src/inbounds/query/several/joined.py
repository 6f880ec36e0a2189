"""Released SELECTs side by side: every row of one with those of the other that match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.apply_view import Viewer
from inbounds.query.answer.released.evaluate import evaluate, is_true
from inbounds.query.answer.released.leaf import Cell, KeyRef, MeasureRef, Named, ReleasedRow, measures_in
from inbounds.query.answer.released.needed_cells import raise_confidence
from inbounds.query.answer.released.source_column import SourceColumn
from inbounds.query.answer.view import View
from inbounds.query.expressions.condition import And, Compare, Condition
from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.query import Query
from inbounds.query.question.measure import Measure
from inbounds.query.several.cells import NOTHING, cells_of, covers_of
from inbounds.query.several.piece import Piece, Questions, Ranks, Released, Scalars, hold_at_once, is_ordered, ranks_of
from inbounds.results.answer import Answer
from inbounds.results.cover import Cover

MOST_PAIRS = 1_000_000
"""So many pairs of rows are looked at to join two SELECTs."""

MISSING: Cell = (None, None, None)


@dataclass(frozen=True)
class Source:
    """A released SELECT after FROM or JOIN."""

    piece: Piece
    name: str
    columns: tuple[KeyRef | MeasureRef, ...]
    """What stands for each of its columns outside."""
    on: Condition | None = None
    """Which of its rows match; all of them if nothing is said."""
    keep: bool = False
    """Whether rows stay that none of its rows match: a LEFT JOIN."""
    chooses: bool = False
    """Whether it chooses groups of rows: if several of its rows matched one, rows would count several times."""

    @property
    def keys(self) -> tuple[Node, ...]:
        """Its keys."""
        return tuple(ref.of for ref in self.columns if isinstance(ref, KeyRef))

    @property
    def values(self) -> dict[Measure, int]:
        """The place of each other column."""
        return {ref.measure: place for place, ref in enumerate(self.columns) if isinstance(ref, MeasureRef)}

    def rows(self, released: Released, confidence: float) -> tuple[Answer, list[ReleasedRow]]:
        """Return what it shows, and its rows."""
        shown, rows = self.piece.show(released, confidence), []
        for place in range(len(shown.rows)):
            cells = cells_of(shown, place)
            rows.append(self._read_row(cells if self.tells_rows else [(value, None, None) for value, _, _ in cells]))
        return shown, rows

    @property
    def tells_rows(self) -> bool:
        """Whether public keys tell which of its rows stands beside another: else, by the true numbers, others could."""
        is_public = self.piece.has_public_rows and (self.on is None or not measures_in(self.on))
        return is_public or self.is_unique or not self.is_beside

    @property
    def is_beside(self) -> bool:
        """Whether it is not the first."""
        return any(isinstance(column, SourceColumn) and column.source > 0 for column in self.values)

    def nothing(self) -> ReleasedRow:
        """Return a row in which everything is missing."""
        return self._read_row([MISSING] * len(self.columns))

    def _read_row(self, cells: Sequence[Cell]) -> ReleasedRow:
        refs = list(zip(self.columns, cells, strict=True))
        keys = {ref.of.name: cell[0] for ref, cell in refs if isinstance(ref, KeyRef)}
        values = {ref.measure: cell for ref, cell in refs if isinstance(ref, MeasureRef)}
        return ReleasedRow(
            keys,
            {measure: cell[0] for measure, cell in values.items()},
            {measure: cell[2] for measure, cell in values.items()},
            {measure: cell[1] for measure, cell in values.items()},
        )

    @property
    def links(self) -> list[tuple[Node, Node]]:
        """What must be equal, before it and in it."""
        tests = () if self.on is None else self.on.all if isinstance(self.on, And) else (self.on,)
        pairs = [(test.this, test.other) for test in tests if isinstance(test, Compare) and test.operator == "="]
        sided = [(a, b) if self._owns(b) else (b, a) for a, b in pairs]
        return [(before, own) for before, own in sided if self._owns(own) and not self._touches(before)]

    def _owns(self, node: Node) -> bool:
        """Return whether a node is about columns of this SELECT, and of no other."""
        refs = [part for part in node.walk() if isinstance(part, KeyRef | MeasureRef)]
        return bool(refs) and all(map(self._is_own, refs))

    def _touches(self, node: Node) -> bool:
        return any(self._is_own(part) for part in node.walk() if isinstance(part, KeyRef | MeasureRef))

    def _is_own(self, ref: KeyRef | MeasureRef) -> bool:
        return ref in self.columns

    @property
    def is_unique(self) -> bool:
        """Whether at most one of its rows matches: all its keys must be equal to something."""
        own = [node.of if isinstance(node, Named) else node for _, node in self.links]
        return {node.of for node in own if isinstance(node, KeyRef)} >= set(self.keys)

    def __str__(self) -> str:
        return f"({self.piece}) AS {quote_name(self.name)}"


@dataclass(frozen=True)
class Joined(Piece):
    """Released SELECTs side by side, and what is shown of them."""

    sources: tuple[Source, ...]
    view: View
    scalars: Scalars = field(default_factory=Scalars)

    def __post_init__(self) -> None:
        rows = self.sources[0].piece.most_rows
        for source in self.sources[1:]:
            if source.chooses and not source.is_unique:
                raise InvalidQuestion(
                    f"rows are joined to one row of {source.name} each; join all that it is grouped by"
                )
            pairs = rows * source.piece.most_rows
            if pairs > MOST_PAIRS and not source.is_unique:
                raise InvalidQuestion(
                    f"a join may look at {MOST_PAIRS:,} pairs of released rows, got {pairs:,}; join all keys of "
                    f"{source.name} by ="
                )
            rows = rows if source.is_unique else pairs

    def queries(self) -> Iterator[Query]:
        for source in self.sources:
            yield from source.piece.queries()
        for piece in self.scalars.pieces:
            yield from piece.queries()

    @property
    def most_rows(self) -> int:
        rows = 1
        for source in self.sources:
            rows *= 1 if source.is_unique else source.piece.most_rows
        return rows if self.view.limit is None else min(rows, self.view.limit)

    @property
    def has_public_rows(self) -> bool:
        return self._matches_publicly and self.view.shows_public_rows

    @property
    def _matches_publicly(self) -> bool:
        tests = [source.on for source in self.sources if source.on is not None]
        return all(source.piece.has_public_rows for source in self.sources) and not any(map(measures_in, tests))

    @property
    def _ranks(self) -> dict[str, Any]:
        pairs = [pair for one in self.sources for pair in zip(one.columns, one.piece.ranks, strict=True)]
        return {ref.of.name: of for ref, of in pairs if isinstance(ref, KeyRef) and of is not None}

    @property
    def ranks(self) -> Sequence[Ranks]:
        return ranks_of(self._viewer(NOTHING), self.view)

    # How sure intervals are.

    @property
    def _columns(self) -> dict[Measure, int]:
        """The number of each column: intervals of several do not hold at once."""
        columns = [column for source in self.sources for column in source.values]
        return {column: number for number, column in enumerate(columns)}

    def _confidences(self, confidence: float) -> tuple[list[float], list[float]]:
        """Return how sure what each source shows has to be, and each scalar."""
        columns = self._columns
        most = self.view.most_at_once((*columns, *self.scalars.columns), self.most_rows)
        of_source = [
            raise_confidence(confidence, max((most[columns[column]] for column in source.values), default=1))
            for source in self.sources
        ]
        return of_source, [raise_confidence(confidence, at_once) for at_once in most[len(columns) :]]

    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        of_source, of_scalar = self._confidences(confidence)
        for source, sure in zip(self.sources, of_source, strict=True):
            source.piece.need(sure, needed)
        self.scalars.need(of_scalar, needed)

    # Rows.

    def show(self, released: Released, confidence: float) -> Answer:
        of_source, of_scalar = self._confidences(confidence)
        shown, rows = [], [ReleasedRow({}, {}, {})]
        for source, sure in zip(self.sources, of_source, strict=True):
            answer, others = source.rows(released, sure)
            shown.append(answer)
            rows = list(_match(rows, source, others))
        keys = [key.name for key in self._keys]
        columns = list(self._columns)
        of_column = [sure for source, sure in zip(self.sources, of_source, strict=True) for _ in source.values]
        wide = Answer(
            (*keys, *map(str, columns)),
            tuple((*(row.keys[key] for key in keys), *(row.values[column] for column in columns)) for row in rows),
            tuple(tuple(row.noise[column] for column in columns) for row in rows),
            shown[0].epsilon,
            "",
            None,
            tuple(tuple(row.intervals[column] for column in columns) for row in rows),
            confidence,
            confidences=tuple(of_column),
            measured=tuple(range(len(keys), len(keys) + len(columns))),
            covers=tuple(self._covers(shown)),
            simultaneous=hold_at_once(released),
        )
        return self._viewer(self.scalars.add_to(wide, released, of_scalar)).apply(self.view)

    def _covers(self, shown: Sequence[Answer]) -> Iterator[Cover]:
        """Yield for each column what its intervals are about."""
        for source, answer in zip(self.sources, shown, strict=True):
            covers = covers_of(answer)
            yield from (covers.get(place, Cover.TRUTH) for place in source.values.values())

    @property
    def _keys(self) -> tuple[Node, ...]:
        return tuple(key for source in self.sources for key in source.keys)

    def _viewer(self, wide: Answer) -> Viewer:
        measures = (*self._columns, *self.scalars.columns)
        return Viewer(wide, self._keys, measures, self._ranks, self._matches_publicly)

    @property
    def is_ordered(self) -> bool:
        return is_ordered(self.view)

    def without_adding_up(self) -> Joined:
        sources = tuple(replace(source, piece=source.piece.without_adding_up()) for source in self.sources)
        return replace(self, sources=sources, scalars=self.scalars.without_adding_up())

    def __str__(self) -> str:
        first, *others = self.sources
        text = f"SELECT {', '.join(map(str, self.view.columns))} FROM {first}"
        for source in others:
            word = "CROSS" if source.on is None else "LEFT" if source.keep else ""
            text += f" {word} JOIN {source}".replace("  ", " ") + ("" if source.on is None else f" ON {source.on}")
        return " ".join([text, *self.view.clauses])


def _match(rows: Sequence[ReleasedRow], source: Source, others: Sequence[ReleasedRow]) -> Iterator[ReleasedRow]:
    """Yield each row with those of another SELECT that match it."""
    if source.on is None:
        yield from (_side_by_side(row, other) for row, other in product(rows, others))
        return
    links = source.links
    places: dict[tuple[Any, ...], list[ReleasedRow]] = {}
    for other in others:
        places.setdefault(tuple(evaluate(own, _inside(other)) for _, own in links), []).append(other)
    for row in rows:
        values = tuple(evaluate(before, _inside(row)) for before, _ in links)
        pairs = (_side_by_side(row, other) for other in places.get(values, ()))
        found = [pair for pair in pairs if is_true(source.on, _inside(pair))]
        yield from found
        if not found and source.keep:
            yield _side_by_side(row, source.nothing())


def _inside(row: ReleasedRow) -> ReleasedRow:
    """Return a row as conditions outside see it."""
    return ReleasedRow({}, {}, {}, inner=row)


def _side_by_side(row: ReleasedRow, other: ReleasedRow) -> ReleasedRow:
    return ReleasedRow(
        {**row.keys, **other.keys},
        {**row.values, **other.values},
        {**row.intervals, **other.intervals},
        {**row.noise, **other.noise},
    )
