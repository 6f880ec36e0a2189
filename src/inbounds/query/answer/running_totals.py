"""Running totals: sums of the rows up to each key, asked as such, and what is kept of them beside the rows.

A question is asked as running totals if nothing else is shown of its measure.  Then they are planned for, and the
answer keeps where each of them lies: the sum of the intervals of many rows would be much wider.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from inbounds.query.answer.released.leaf import Ends, KeyRef, MeasureRef, Named, ReleasedRow
from inbounds.query.answer.released.window import WHOLE, Window, WindowCell, windows_in
from inbounds.query.answer.view import View
from inbounds.query.expressions.node import Node
from inbounds.query.methods.method import Answered
from inbounds.query.question.question import Question
from inbounds.results.exact_cells import are_numbers, to_exact
from inbounds.results.running_totals import RunningTotals


def find_running_totals(question: Question, answers: Sequence[tuple[Answered, ...]]) -> RunningTotals | None:
    """Take running totals from the answers to a question; None if they were not planned for."""
    known = [cell.up_to for (cell, *_) in answers if cell.up_to is not None]
    if question.running is None or not known:
        return None
    return RunningTotals(question.running, tuple(each.noise for each in known), tuple(each.interval for each in known))


def running_cells(
    known: RunningTotals,
    window: Window,
    rows: Sequence[ReleasedRow],
    computed: Sequence[WindowCell],
    names: Sequence[str],
) -> list[WindowCell] | None:
    """Return what a window is in all released rows with the intervals that are known; None if it is another one."""
    along = names[known.along]
    kind = _sums_up(window, names, along)
    if kind is None:
        return None
    places = range(len(rows))
    if kind == "all":  # the sum up to the last row with the same other keys
        others = [tuple(key for name, key in row.keys.items() if name != along) for row in rows]
        last = {other: place for place, other in enumerate(others)}
        return [_know(known, cell, last[other]) for cell, other in zip(computed, others, strict=True)]
    return [_know(known, cell, place) for cell, place in zip(computed, places, strict=True)]


def _know(known: RunningTotals, cell: WindowCell, place: int) -> WindowCell:
    low, high = map(to_exact, known.intervals[place])
    ends: Ends | None = (low, high) if are_numbers(low, high) else None
    return replace(cell, ends=ends, noise=known.noise[place])


def running_place(view: View, question: Question) -> int | None:
    """Return the place of the group along which running totals are all that a view shows of measures; None if it
    shows anything else of them, or looks at some of the rows only."""
    if not view.columns or question.sets is not None or not _adds_up_all_rows(view):
        return None
    names = [group.column.node.name for group in question.groups]
    for place, group in enumerate(question.groups):
        kinds = [_sums_up(leaf, names, names[place]) for leaf in _measured_leaves(*view.nodes)]
        if group.column.has_order and None not in kinds and "up to" in kinds:
            return place
    return None


def shows_all_rows(view: View) -> bool:
    """Return whether windows look at all released rows, one by one: none are left out before, or grouped."""
    if view.having is not None or view.grouped is not None:
        return False
    inner = view.inner
    return inner is None or (
        inner.qualify is None and inner.limit is None and not inner.offset and shows_all_rows(inner)
    )


def _adds_up_all_rows(view: View) -> bool:
    """Return whether windows look at all released rows in the SELECT that has them; others may choose from these."""
    if any(windows_in(*view.nodes)):
        return shows_all_rows(view)
    return view.grouped is None and view.inner is not None and _adds_up_all_rows(view.inner)


def running_window(view: View, question: Question) -> Callable[[Window], bool]:
    """Return what tells whether a window in a view has an interval of its own, if running totals were planned for."""
    place = running_place(view, question)
    names = [group.column.node.name for group in question.groups]
    return lambda window: place is not None and _sums_up(window, names, names[place]) is not None


def _measured_leaves(*nodes: Node) -> Iterator[Node]:
    """Yield the outermost sums over rows in some expressions, and the measures that stand outside of them."""
    for node in nodes:
        if isinstance(node, MeasureRef) or (isinstance(node, Window) and _is_plain_sum(node)):
            yield node
        else:
            yield from _measured_leaves(*node.parts())


def _is_plain_sum(window: Window) -> bool:
    """Return whether it adds up a measure, and nothing made of it."""
    return type(window) is Window and window.function == "SUM" and isinstance(_plain(window.arguments[0]), MeasureRef)


def _sums_up(node: Node, names: Sequence[str], along: str) -> str | None:
    """Return "up to" for a running total of a measure along a key, "all" for its last one; None for anything else."""
    if not isinstance(node, Window) or not _is_plain_sum(node):
        return None
    keys = [_plain(by) for by in node.partition]
    others = {key.of.name for key in keys if isinstance(key, KeyRef)}
    if len(others) < len(keys) or others != {name for name in names if name != along}:
        return None
    if node.frame in WHOLE or (node.frame is None and not node.order):
        return "all"
    starts = node.frame is None or (node.frame.start is None and node.frame.end == 0)
    if not starts or len(node.order) != 1 or node.order[0].descending:
        return None
    key = _plain(node.order[0].of)
    return "up to" if isinstance(key, KeyRef) and key.of.name == along else None


def _plain(node: Node) -> Node:
    """Return what a name in the SELECT inside stands for."""
    while isinstance(node, Named):
        node = node.of
    return node
