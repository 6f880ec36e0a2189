"""Which rows a window looks at: its parts in order, and of each row the rows of its frame."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inbounds.query.answer.released.evaluate import evaluate
from inbounds.query.answer.released.leaf import ReleasedRow
from inbounds.query.answer.released.order import Order
from inbounds.query.answer.released.window import DEFAULT, Frame, Window
from inbounds.query.expressions.node import Node

SortKey = Callable[[Node, ReleasedRow], Any]
"""What a row is put in order by; None if it is missing."""

Span = tuple[int, int]
"""Rows from one place on, up to another that is left out."""


def put_in_order(places: Sequence[int], keys: Sequence[Any], order: Order) -> list[int]:
    """Return places in the order of their keys; those that are alike stay as they are, what is missing comes last."""
    present = sorted(
        (place for place in places if keys[place] is not None), key=keys.__getitem__, reverse=order.descending
    )
    missing = [place for place in places if keys[place] is None]
    return missing + present if order.missing_first else present + missing


@dataclass(frozen=True)
class Part:
    """Rows of a window that belong together, in its order."""

    places: Sequence[int]
    """Where its rows are in the answer."""
    keys: Sequence[tuple[Any, ...]]
    """What each of them is put in order by."""
    order: tuple[Order, ...]

    @cached_property
    def group_starts(self) -> list[int]:
        """Where the groups of rows begin that are equal by the order."""
        return [i for i, key in enumerate(self.keys) if i == 0 or key != self.keys[i - 1]]

    @cached_property
    def group_numbers(self) -> list[int]:
        """In which group each row is."""
        return [bisect_right(self.group_starts, i) - 1 for i in range(len(self.keys))]

    def start_of_group(self, number: int) -> int:
        """Return where a group begins; for one beyond the last, where the rows end."""
        return self.group_starts[max(number, 0)] if number < len(self.group_starts) else len(self.keys)

    def peers(self, i: int) -> Span:
        """Return the rows that are equal to a row."""
        number = self.group_numbers[i]
        return self.start_of_group(number), self.start_of_group(number + 1)

    def spans(self, frame: Frame | None) -> list[Span]:
        """Return the rows that a function sees from each row."""
        count, chosen = len(self.keys), frame or DEFAULT
        if chosen.unit == "ROWS":
            start = count if chosen.start is None else int(chosen.start)
            end = count if chosen.end is None else int(chosen.end)
            first = (lambda i: 0) if chosen.start is None else (lambda i: i + start)
            last = (lambda i: count) if chosen.end is None else (lambda i: i + end + 1)
            return [_clip(first(i), last(i), count) for i in range(count)]
        if chosen.unit == "RANGE" and (chosen.start or chosen.end):
            return self._spans_by_value(chosen)
        spans = []
        for number in self.group_numbers:
            start = 0 if chosen.start is None else self.start_of_group(number + int(chosen.start))
            beyond = None if chosen.end is None else number + int(chosen.end) + 1
            end = count if beyond is None else self.start_of_group(beyond) if beyond > 0 else 0
            spans.append(_clip(start, end, count))
        return spans

    def _spans_by_value(self, frame: Frame) -> list[Span]:
        """Return the rows whose value is so far away at most; for a row without one, those without one."""
        (order,), count = self.order, len(self.keys)
        sign = -1 if order.descending else 1
        present = [i for i, (key,) in enumerate(self.keys) if key is not None]
        values = [sign * self.keys[i][0] for i in present]
        before = present[0] if present else 0
        spans = []
        for i, (key,) in enumerate(self.keys):
            start, end = self.peers(i)
            if key is not None and frame.start:
                start = before + bisect_left(values, sign * key + frame.start)
            if key is not None and frame.end:
                end = before + bisect_right(values, sign * key + frame.end)
            spans.append(_clip(0 if frame.start is None else start, count if frame.end is None else end, count))
        return spans


def split_rows(window: Window, rows: Sequence[ReleasedRow], sort_key: SortKey) -> list[Part]:
    """Return the rows of an answer as a window takes them apart and puts them in order."""
    parts: dict[Hashable, list[int]] = {}
    for place, row in enumerate(rows):
        parts.setdefault(tuple(evaluate(by, row) for by in window.partition), []).append(place)
    keys = [[sort_key(order.of, row) for row in rows] for order in window.order]
    ordered = []
    for places in parts.values():
        for order, values in zip(reversed(window.order), reversed(keys), strict=True):
            places = put_in_order(places, values, order)  # noqa: PLW2901  by the last order first: sorting is stable
        ordered.append(Part(places, [tuple(values[place] for values in keys) for place in places], window.order))
    return ordered


def _clip(start: int, end: int, count: int) -> Span:
    start = min(max(start, 0), count)
    return start, max(start, min(end, count))
