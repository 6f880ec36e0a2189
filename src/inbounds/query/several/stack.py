"""Answers to several queries as one table, as it is kept: the rows of one below those of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inbounds.query.answer.made_answer import columns_of
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan
from inbounds.query.query import Query
from inbounds.results.answer import Answer, unlike

EMPTY_CELL = len("null,null,null,")
"""So many characters of text a cell takes in which nothing stands: its value, noise and interval."""


@dataclass(frozen=True)
class Stack:
    """Which queries there are: each has keys and measures of its own, and nothing stands in those of others."""

    queries: tuple[Query, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys, each once."""
        names = (group.column.name for query in self.queries for group in query.questions[0].groups)
        return tuple(dict.fromkeys(names))

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys, then the measures of each query."""
        names = self.keys
        for query in self.queries:
            own = columns_of(query.questions, query.places)[len(query.questions[0].groups) :]
            for name in own:
                names = (*names, unlike(name, names))
        return names

    def split_plans(self, plans: Sequence[Plan]) -> list[Sequence[Plan]]:
        """Return the plans of each query."""
        parts, first = [], 0
        for query in self.queries:
            parts.append(plans[first : first + len(query.questions)])
            first += len(query.questions)
        return parts

    def put(self, answers: Sequence[Answer]) -> Answer:
        """Return answers as one table."""
        keys, width = self.keys, sum(len(query.places) for query in self.queries)
        rows: list[tuple[Any, ...]] = []
        noise: list[tuple[Any, ...]] = []
        intervals: list[tuple[Any, ...]] = []
        first = 0
        for query, answer in zip(self.queries, answers, strict=True):
            own = [group.column.name for group in query.questions[0].groups]
            before, after = (None,) * first, (None,) * (width - first - len(query.places))
            for row, noises, ends in zip(answer.rows, answer.noise, answer.intervals, strict=True):
                named = dict(zip(own, row, strict=False))
                rows.append((*map(named.get, keys), *before, *row[len(own) :], *after))
                noise.append((*before, *noises, *after))
                intervals.append((*before, *ends, *after))
            first += len(query.places)
        epsilon = sum((answer.epsilon for answer in answers[1:]), answers[0].epsilon)
        return replace(
            answers[0],
            columns=self.columns,
            rows=tuple(rows),
            noise=tuple(noise),
            intervals=tuple(intervals),
            epsilon=epsilon,
            row_limit=None,
        )

    def take(self, table: Answer) -> list[Answer]:
        """Return the answers that such a table was made of."""
        keys, answers, row, first = self.keys, [], 0, 0
        for query in self.queries:
            own = [group.column.name for group in query.questions[0].groups]
            rows = slice(row, row + len(query.questions[0].rows))
            columns = slice(first, first + len(query.places))
            places = [keys.index(name) for name in own]
            shown = slice(len(keys) + columns.start, len(keys) + columns.stop)
            answers.append(
                replace(
                    table,
                    columns=columns_of(query.questions, query.places),
                    rows=tuple((*(line[i] for i in places), *line[shown]) for line in table.rows[rows]),
                    noise=tuple(line[columns] for line in table.noise[rows]),
                    intervals=tuple(line[columns] for line in table.intervals[rows]),
                    confidences=table.confidences[columns],
                    covers=(),
                    measured=None,
                )
            )
            row, first = rows.stop, columns.stop
        return answers

    def longest(self, plans: Sequence[Plan], asked: Mapping[str, Any] | None) -> int:
        """Return how long the text of such a table can get, whatever is drawn."""
        if len(self.queries) == 1:
            return self.queries[0].longest(plans, asked)
        cells = len(self.columns)
        length = sum(map(len, self.columns)) + 10 * cells
        for query, own in zip(self.queries, self.split_plans(plans), strict=True):
            length += query.longest(own, None) + len(query.questions[0].rows) * EMPTY_CELL * cells
        return length + 30 * cells  # and the confidence of each column

    def answer(
        self,
        plans: Sequence[Plan],
        answers: Sequence[Sequence[tuple[Answered, ...]]],
        confidence: float,
        confidences: Sequence[float],
    ) -> Answer:
        """Return private answers to all queries as one table."""
        parts, first = [], 0
        for query in self.queries:
            here = slice(first, first + len(query.questions))
            parts.append(query.put_together(plans[here], answers[here], confidence, confidences[here]))
            first = here.stop
        return parts[0] if len(parts) == 1 else self.put(parts)
