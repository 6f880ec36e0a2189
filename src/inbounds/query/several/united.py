"""Released SELECTs one below the other: UNION ALL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inbounds.query.answer.released.leaf import Cell
from inbounds.query.query import Query
from inbounds.query.several.cells import cells_of, covers_of
from inbounds.query.several.piece import Piece, Questions, Ranks, Released
from inbounds.results.answer import Answer
from inbounds.results.cover import Cover


@dataclass(frozen=True)
class United(Piece):
    """Released SELECTs one below the other."""

    pieces: tuple[Piece, ...]
    columns: tuple[str, ...]
    measured: tuple[int, ...]
    """Which of the columns are no keys, by place."""

    def queries(self) -> Iterator[Query]:
        for piece in self.pieces:
            yield from piece.queries()

    @property
    def most_rows(self) -> int:
        return sum(piece.most_rows for piece in self.pieces)

    @property
    def has_public_rows(self) -> bool:
        return all(piece.has_public_rows for piece in self.pieces)

    @property
    def ranks(self) -> Sequence[Ranks]:
        return [None] * len(self.columns)

    def need(self, confidence: float, needed: dict[tuple[Questions, int], float]) -> None:
        for piece in self.pieces:
            piece.need(confidence, needed)

    def show(self, released: Released, confidence: float) -> Answer:
        lines: list[list[Cell]] = []
        covers = dict.fromkeys(self.measured, Cover.TRUTH)
        for piece in self.pieces:
            shown = piece.show(released, confidence)
            lines += [cells_of(shown, row) for row in range(len(shown.rows))]
            own = covers_of(shown)
            covers = {place: Cover.of_all((of, own.get(place, Cover.TRUTH))) for place, of in covers.items()}
        return replace(
            shown,
            columns=self.columns,
            rows=tuple(tuple(cell[0] for cell in line) for line in lines),
            noise=tuple(tuple(line[place][1] for place in self.measured) for line in lines),
            intervals=tuple(tuple(line[place][2] for place in self.measured) for line in lines),
            confidence=confidence,
            confidences=(),
            measured=self.measured,
            covers=tuple(covers.values()),
            public=(),
        )

    def without_adding_up(self) -> United:
        return replace(self, pieces=tuple(piece.without_adding_up() for piece in self.pieces))

    def __str__(self) -> str:
        parts = (f"({piece})" if piece.is_ordered else str(piece) for piece in self.pieces)
        return " UNION ALL ".join(parts)
