"""A piece of a statement: what it shows, once everything that is asked for was released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inbounds.query.answer.apply_view import Viewer
from inbounds.query.answer.made_answer import cover_intervals
from inbounds.query.answer.released.leaf import CELLS, Kind
from inbounds.query.answer.released.needed_cells import raise_confidence
from inbounds.query.answer.released.source_column import SourceColumn
from inbounds.query.answer.view import View
from inbounds.query.query import Query
from inbounds.query.question.question import Question
from inbounds.query.several.cells import NOTHING, add_cells, cells_of
from inbounds.results.answer import Answer
from inbounds.results.cover import Cover
from inbounds.results.pivot_table import pivot_answer

Questions = tuple[Question, ...]

Released = Mapping[Questions, Answer]
"""What was released, by the questions that it answers."""

Ranks = Mapping[Any, int] | None
"""In which order the values of a key lie that do not tell by themselves."""


def hold_at_once(released: Released) -> bool:
    """Return whether all intervals of what was released hold at once."""
    return any(answer.simultaneous for answer in released.values())


def is_ordered(view: View) -> bool:
    """Return whether a view has ORDER BY, LIMIT or OFFSET."""
    return bool(view.order or view.offset) or view.limit is not None


def ranks_of(viewer: Viewer, view: View) -> Sequence[Ranks]:
    """Return in which order the values of each column lie that a view shows."""
    keys = (column.key for column in viewer.columns_of(view))
    return [None if key is None else viewer.ranks.get(key.of.name) for key in keys]


class Piece(ABC):
    """What a part of a statement shows; everything in it follows from answers that are released together."""

    @abstractmethod
    def queries(self) -> Iterator[Query]:
        """Yield everything that is asked for."""

    @abstractmethod
    def show(self, released: Released, confidence: float) -> Answer:
        """Return what is shown; its intervals have this confidence."""

    @abstractmethod
    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        """Note how sure the intervals of each question have to be for those that are shown."""

    @property
    @abstractmethod
    def most_rows(self) -> int:
        """So many rows are shown at most, whatever is released."""

    @property
    @abstractmethod
    def has_public_rows(self) -> bool:
        """Whether public keys alone say which rows are shown."""

    @property
    @abstractmethod
    def ranks(self) -> Sequence[Ranks]:
        """In which order the values of each column lie that is shown, where they do not tell."""

    @property
    def is_ordered(self) -> bool:
        """Whether its text ends with ORDER BY, LIMIT or OFFSET, which would be taken for those of what is around it."""
        return False

    @abstractmethod
    def without_adding_up(self) -> Piece:
        """Return the same with each cell answered by itself."""


@dataclass(frozen=True)
class Scalars:
    """Single values of other SELECTs, which stand in expressions."""

    pieces: tuple[Piece, ...] = ()
    columns: tuple[SourceColumn, ...] = ()

    def need(self, confidences: Sequence[float], needed: dict[tuple[Questions, int], float]) -> None:
        """Note how sure the intervals of their questions have to be."""
        for piece, confidence in zip(self.pieces, confidences, strict=True):
            piece.need(confidence, needed)

    def add_to(self, answer: Answer, released: Released, confidences: Sequence[float]) -> Answer:
        """Return an answer with a column for each of them."""
        sure = answer.confidences or (answer.confidence,) * answer.measures
        for piece, column, confidence in zip(self.pieces, self.columns, confidences, strict=True):
            shown = piece.show(released, confidence)
            cell = cells_of(shown, 0)[-1] if shown.rows else (None, None, None)
            if not piece.has_public_rows:  # by the true numbers it could be another row
                cell = cell[0], None, None
            answer = add_cells(answer, (str(column),), (cell,), shown.interval_covers[-1:] or (Cover.NOISE,))
        return replace(answer, confidences=(*sure, *confidences))

    def without_adding_up(self) -> Scalars:
        """Return the same with each cell answered by itself."""
        return replace(self, pieces=tuple(piece.without_adding_up() for piece in self.pieces))


@dataclass(frozen=True)
class Asked(Piece):
    """One SELECT about rows, and how it is shown."""

    query: Query
    scalars: Scalars = field(default_factory=Scalars)

    def queries(self) -> Iterator[Query]:
        yield self.query
        for piece in self.scalars.pieces:
            yield from piece.queries()

    @property
    def most_rows(self) -> int:
        rows, limit = len(self.query.questions[0].rows), self.query.shown.limit
        return rows if limit is None else min(rows, limit)

    @property
    def has_public_rows(self) -> bool:
        return self._view.shows_public_rows

    @property
    def ranks(self) -> Sequence[Ranks]:
        return ranks_of(self._viewer(NOTHING), self.query.shown)

    @property
    def _view(self) -> View:
        return self.query.public.view if self.query.public else self.query.shown

    def _confidences(self, confidence: float) -> list[float]:
        """Return how sure each question has to be, and then each scalar."""
        paid, rows = self.query.paid, len(self.query.questions[0].rows)
        of_questions = [] if paid is None else paid.most_at_once(self._view)
        of_scalars = self._view.most_at_once(self.scalars.columns, rows)
        return [raise_confidence(confidence, at_once) for at_once in (*of_questions, *of_scalars)]

    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        paid, sure = self.query.paid, self._confidences(confidence)
        count = 0 if paid is None else len(paid.questions)
        for which in range(count):
            assert paid is not None
            place = paid.questions, which
            needed[place] = max(needed.get(place, 0.0), sure[which])
        self.scalars.need(sure[count:], needed)

    def _viewer(self, answer: Answer) -> Viewer:
        paid = self.query.paid
        measures = () if paid is None else paid.asked
        return Viewer.of(answer, self.query.questions, (*measures, *self.scalars.columns))

    def show(self, released: Released, confidence: float) -> Answer:
        query, paid, sure = self.query, self.query.paid, self._confidences(confidence)
        if paid is None:
            answer = query.public.keys
            count = 0
        else:
            answer, count = released[paid.questions], len(paid.questions)
            confidences = answer.confidences or (answer.confidence,) * answer.measures
            answer = replace(cover_intervals(answer, paid.questions, paid.places, paid.asked), confidences=confidences)
        answer = replace(answer, confidence=confidence, simultaneous=hold_at_once(released))
        answer = self.scalars.add_to(answer, released, sure[count:])
        shown = self._viewer(answer).apply(self._view)
        return query.public.beside(shown) if query.public else shown

    @property
    def is_ordered(self) -> bool:
        return is_ordered(self.query.shown)

    def without_adding_up(self) -> Asked:
        return Asked(self.query.alone(), self.scalars.without_adding_up())

    def __str__(self) -> str:
        return str(self.query)


@dataclass(frozen=True)
class Values(Piece):
    """One row, of single values of other SELECTs."""

    view: View
    scalars: Scalars

    def queries(self) -> Iterator[Query]:
        for piece in self.scalars.pieces:
            yield from piece.queries()

    @property
    def most_rows(self) -> int:
        return 1

    @property
    def has_public_rows(self) -> bool:
        return self.view.shows_public_rows

    @property
    def ranks(self) -> Sequence[Ranks]:
        return [None] * len(self.view.columns)

    def _confidences(self, confidence: float) -> list[float]:
        most = self.view.most_at_once(self.scalars.columns, 1)
        return [raise_confidence(confidence, at_once) for at_once in most]

    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        self.scalars.need(self._confidences(confidence), needed)

    def show(self, released: Released, confidence: float) -> Answer:
        start = replace(NOTHING, confidence=confidence, simultaneous=hold_at_once(released))
        answer = self.scalars.add_to(start, released, self._confidences(confidence))
        return Viewer(answer, (), self.scalars.columns, {}).apply(self.view)

    @property
    def is_ordered(self) -> bool:
        return is_ordered(self.view)

    def without_adding_up(self) -> Values:
        return replace(self, scalars=self.scalars.without_adding_up())

    def __str__(self) -> str:
        return " ".join([f"SELECT {', '.join(map(str, self.view.columns))}", *self.view.clauses])


@dataclass(frozen=True)
class Columns(Piece):
    """No row: columns by their names, and what would be in them."""

    columns: tuple[tuple[str, Kind], ...]
    text: str
    most_rows = 0
    has_public_rows = True

    def queries(self) -> Iterator[Query]:
        return iter(())

    @property
    def ranks(self) -> Sequence[Ranks]:
        return [None] * len(self.columns)

    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        """Note nothing: there is no row."""

    def show(self, released: Released, confidence: float) -> Answer:
        names = tuple(name for name, _ in self.columns)
        kinds = tuple(CELLS[kind] for _, kind in self.columns)
        return replace(NOTHING, columns=names, rows=(), noise=(), intervals=(), public=names, kinds=kinds)

    def without_adding_up(self) -> Columns:
        return self

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Pivoted(Piece):
    """What another piece shows, with a column for each category of a key."""

    piece: Piece
    key: str
    text: str

    def queries(self) -> Iterator[Query]:
        yield from self.piece.queries()

    @property
    def most_rows(self) -> int:
        return self.piece.most_rows

    @property
    def has_public_rows(self) -> bool:
        return self.piece.has_public_rows

    @property
    def ranks(self) -> Sequence[Ranks]:
        return ()  # it stands in no other

    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        self.piece.need(confidence, needed)

    def show(self, released: Released, confidence: float) -> Answer:
        return pivot_answer(self.piece.show(released, confidence), self.key)

    def without_adding_up(self) -> Pivoted:
        return replace(self, piece=self.piece.without_adding_up())

    def __str__(self) -> str:
        return self.text
