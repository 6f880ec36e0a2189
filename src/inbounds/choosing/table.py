"""A comparison as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inbounds.choosing.row import Row
from inbounds.display.table import Cell, Column, Look, TextTable
from inbounds.privacy.label import format_up, plain_up

COLUMNS = (
    Column("mechanism", left=True),
    Column("privacy", left=True),
    Column("in range", "in", left=True),
    Column("unbiased", "unb", left=True),
    Column("scale"),
    Column("mean error", "mean"),
    Column("worst error", "worst"),
    Column("at ends", "ends"),
    Column("× limit", "×lim"),
)

WORDS = (
    "; in range (in): whether every release is a possible answer, or some leave the range; unbiased (unb): whether "
    "releases are right on average; at ends (ends): how probable it is that a release is an end of a span"
)
"""What columns are that have a shorter name where there is little room."""


def table_of(title: str, caption: str, rows: Sequence[Row]) -> TextTable:
    """Return the rows that apply as a table, and what is known of the others as notes."""
    applicable = [row for row in rows if row.not_applicable is None]
    by_mean, by_worst = (_least(rows, error) for error in ("mean_error", "worst_error"))
    return TextTable(
        columns=COLUMNS,
        rows=[_cells(row, row is by_mean, row is by_worst) for row in applicable],
        title=title,
        notes=[_full(caption, rows), *_refusals(rows)],
    )


def _least(rows: Sequence[Row], error: str) -> Row | None:
    """Return the row with the least mean or worst error of all that are private and in range."""
    return min((row for row in rows if row.eligible), key=lambda row: getattr(row, error) or 0.0, default=None)


def _cells(row: Row, least_mean: bool, least_worst: bool) -> list[Cell]:
    usual: Look = "plain" if row.eligible else "faint"
    leaks = row.label is not None and not row.label.private
    at_ends = "" if row.at_ends is None else "100%" if row.at_ends > 0.9994 else f"{row.at_ends:.1%}"
    return [
        Cell(row.name, usual, row.paper),
        Cell(_privacy(row), "alarm" if leaks else usual),
        Cell("yes" if row.in_range else "no", usual),
        Cell({True: "yes", False: "no", None: "?"}[row.unbiased], usual),
        Cell(_number(row.scale), usual),
        Cell(_number(row.mean_error), "best" if least_mean else usual),
        Cell(_number(row.worst_error), "best" if least_worst else usual),
        Cell(at_ends, usual),
        Cell("" if row.mean_over_optimum is None else _ratio(row.mean_over_optimum), usual),
    ]


def _privacy(row: Row) -> str:
    """Return the label, short: epsilon is the one asked for."""
    label = row.label
    if label is None:
        return ""
    if label.loss is not None:
        return f"NO: {plain_up(label.loss / label.epsilon, 3)} ε"
    return f"ε, δ {format_up(label.delta, 1)}" if label.delta else "ε"


def _ratio(x: float) -> str:
    """Write how many times the limit an error is."""
    return f"{x:.2f}" if x < 99 else _number(x, 5)


def _number(x: float | None, width: int = 6) -> str:
    """Write a number with four digits, or with as many as fit."""
    if x is None:
        return ""
    texts = [f"{x:.{digits}g}" for digits in (4, 3, 2, 1)]
    short = [text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-") for text in texts]
    return next((text for text in short if len(text) <= width), short[-1])


def _full(caption: str, rows: Sequence[Row]) -> str:
    known = any(row.mean_over_optimum is not None for row in rows)
    limit = "; × limit (×lim): mean error over the least that a mechanism that keeps ε can have" if known else ""
    return f"{caption}{WORDS}{limit}; * the least of all that are private and in range"


def _refusals(rows: Sequence[Row]) -> Iterator[str]:
    """Say why some mechanisms are not there, those for the same reason together."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.not_applicable is not None:
            reasons.setdefault(row.not_applicable, []).append(row.name)
    for reason, names in reasons.items():
        yield f"{', '.join(names)}: not applicable: {reason}"
