"""How many released numbers must lie in their intervals at once for the interval of an expression to hold.

Each holds by itself, and several by the union bound.  How many is known before anything is released, so that their
intervals can be made as much wider as that takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

from inbounds.exact.rational import round_up
from inbounds.query.answer.released.leaf import MeasureRef, Named, measures_in
from inbounds.query.answer.released.window import Window
from inbounds.query.expressions.node import Node
from inbounds.query.question.measure import Measure

IsOne = Callable[[Window], bool]


def never(_: Window) -> bool:
    """Return that no window has an interval of its own."""
    return False


def raise_confidence(confidence: float, at_once: int) -> float:
    """Return the confidence of each of several intervals that must all hold: each misses with a part of the odds."""
    return confidence if at_once == 1 else round_up(1 - (1 - Fraction(confidence)) / at_once)


def needed_cells(node: Node, rows: int, is_one: IsOne = never) -> Counter[Measure] | None:
    """Return of how many rows an expression needs each measure; None if it has no interval at all.

    It is never less than what is counted for a row of the answer, which has at most so many rows.  A window that
    `is_one` has an interval of its own.
    """
    direct: set[Measure] = set()
    windows: dict[tuple[int, Window], None] = {}
    pending = [(node, 0)]
    while pending:
        part, depth = pending.pop()
        if isinstance(part, Window):
            windows[depth, part] = None
        elif isinstance(part, Named):
            pending.append((part.of, depth + 1))
        elif isinstance(part, MeasureRef):
            direct.add(part.measure)
        else:
            pending.extend((inside, depth) for inside in part.parts())
    needed = Counter(dict.fromkeys(direct, 1))
    for _, window in windows:
        cells = _needed_by(window, rows, is_one)
        if cells is None:
            return None
        needed += cells
    return needed


def _needed_by(window: Window, rows: int, is_one: IsOne) -> Counter[Measure] | None:
    if is_one(window):
        return Counter(measures_in(window))
    if not window.has_interval or not window.has_public_rows:
        return None
    count = rows if window.most_rows is None else max(0, min(rows, window.most_rows))
    needed: Counter[Measure] = Counter()
    for argument in window.arguments if window.function != "COUNT" else ():
        cells = needed_cells(argument, rows, is_one)
        if cells is None:
            return None
        needed += Counter({measure: number * count for measure, number in cells.items()})
    return needed
