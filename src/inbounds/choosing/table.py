"""A comparison as a table: plain text of 80 columns, HTML, or rich."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from inbounds.privacy.label import Label, written_up

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH = 80

COLUMNS = ("mechanism", "privacy", "in range", "scale", "mean error", "worst error", "at ends", "× limit")

WIDTHS = (27, 12, 3, 7, 7, 7, 5, 5)

LEFT, MEAN, WORST = 3, 4, 5
"""How many columns are aligned to the left, and which hold the errors."""

SHORT = ("mechanism", "privacy", "in", "scale", "mean", "worst", "ends", "×lim")


@dataclass(frozen=True)
class Row:
    """What is known of one mechanism; nothing but a reason if it is not for these bounds."""

    name: str
    paper: str
    not_applicable: str | None = None
    mechanism: Any = None
    label: Label | None = None
    in_range: bool | None = None
    scale: float | None = None
    mean_error: float | None = None
    worst_error: float | None = None
    at_ends: float | None = None
    """How probable it is that a release is an end of a span, averaged over true answers."""
    mean_over_optimum: float | None = None
    """The mean error, divided by a proved limit that no mechanism is below which keeps epsilon, where that is known.

    It is at least 1.  What does not keep epsilon has none, for it is not bound by the limit.
    """
    worst_over_optimum: float | None = None

    @property
    def eligible(self) -> bool:
        """Whether it is private without a delta, and every release is possible."""
        return self.label is not None and self.label.pure and bool(self.in_range)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        plain = asdict(Row(**{**self.__dict__, "mechanism": None, "label": None}))
        del plain["mechanism"]
        label = self.label
        return plain | {
            "private": label and label.private,
            "epsilon": label and float(label.epsilon),
            "delta": label and float(label.delta),
            "label": label and str(label),
        }


def as_text(title: str, caption: str, rows: Sequence[Row]) -> str:
    """Write rows as plain text, at most 80 columns wide; the best errors carry an asterisk."""
    best = _best(rows)
    lines = [*wrap(title, WIDTH), "", _line(SHORT)]
    lines += [_line(_starred(row, best)) for row in rows if row.not_applicable is None]
    lines += ["", *wrap(_full(caption, rows) + "; * the least of all that are private and in range", WIDTH)]
    for refused in _refused(rows):
        lines += wrap(refused, WIDTH, subsequent_indent="    ")
    return "\n".join(lines)


def _refused(rows: Sequence[Row]) -> list[str]:
    """Say why some mechanisms are not there, those for the same reason together."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.not_applicable is not None:
            reasons.setdefault(row.not_applicable, []).append(row.name)
    return [f"{', '.join(names)}: not applicable: {reason}" for reason, names in reasons.items()]


def _line(cells: tuple[str, ...]) -> str:
    padded = [
        cell.ljust(width) if column < LEFT else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return " ".join(padded).rstrip()


def _starred(row: Row, best: tuple[Row | None, Row | None]) -> tuple[str, ...]:
    cells = list(_cells(row))
    for column, chosen in zip((MEAN, WORST), best, strict=True):
        if row is chosen:
            cells[column] = "*" + cells[column]
    return tuple(cells)


def _cells(row: Row) -> tuple[str, ...]:
    """Return one cell for each column."""
    relative = "" if row.mean_over_optimum is None else _ratio(row.mean_over_optimum)
    at_ends = "" if row.at_ends is None else "100%" if row.at_ends > 0.9994 else f"{row.at_ends:.1%}"
    numbers = [_number(x) for x in (row.scale, row.mean_error, row.worst_error)]
    return (row.name, _privacy(row), "yes" if row.in_range else "no", *numbers, at_ends, relative)


def _privacy(row: Row) -> str:
    """Return the label, short: epsilon is the one asked for."""
    label = row.label
    if label is None:
        return ""
    if label.loss is not None:
        return f"NO: {float(label.loss / label.epsilon):.2f} ε"
    return f"ε, δ {written_up(label.delta, 1)}" if label.delta else "ε"


def _ratio(x: float) -> str:
    """Write how many times the limit an error is."""
    return f"{x:.2f}" if x < 99 else _number(x, 5)


def _number(x: float | None, width: int = 6) -> str:
    """Write a number with four digits, or with as many as fit."""
    if x is None:
        return ""
    written = [f"{x:.{digits}g}" for digits in (4, 3, 2, 1)]
    short = [text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-") for text in written]
    return next((text for text in short if len(text) <= width), short[-1])


def _best(rows: Sequence[Row]) -> tuple[Row | None, Row | None]:
    """Return the rows with the least mean and the least worst error of all that are private and in range."""
    eligible = [row for row in rows if row.eligible]
    by_mean = min(eligible, key=lambda row: row.mean_error or 0.0, default=None)
    by_worst = min(eligible, key=lambda row: row.worst_error or 0.0, default=None)
    return by_mean, by_worst


def _full(caption: str, rows: Sequence[Row]) -> str:
    known = any(row.mean_over_optimum is not None for row in rows)
    limit = "; × limit: mean error over the least that a mechanism that keeps ε can have" if known else ""
    return caption + limit


def as_html(title: str, caption: str, rows: Sequence[Row]) -> str:
    """Write rows as an HTML table, for notebooks."""
    best = _best(rows)
    head = "".join(f"<th>{escape(column)}</th>" for column in COLUMNS)
    body = "".join(_html_row(row, best) for row in rows)
    foot = escape(f"{title}: {_full(caption, rows)}")
    return f"<table><caption>{foot}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_row(row: Row, best: tuple[Row | None, Row | None]) -> str:
    name = f'<td style="text-align:left" title="{escape(row.paper)}">{escape(row.name)}</td>'
    if row.not_applicable is not None:
        reason = escape(f"not applicable: {row.not_applicable}")
        return f'<tr>{name}<td colspan="{len(COLUMNS) - 1}" style="text-align:left"><i>{reason}</i></td></tr>'
    cells = [escape(cell) for cell in _cells(row)]
    for column, chosen in zip((MEAN, WORST), best, strict=True):
        cells[column] = f"<b>{cells[column]}</b>" if row is chosen else cells[column]
    return f"<tr>{name}{''.join(f'<td>{cell}</td>' for cell in cells[1:])}</tr>"


def as_rich(title: str, caption: str, rows: Sequence[Row]) -> RenderableType:
    """Write rows as a table for rich: one line each where the terminal has 80 columns."""
    try:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415  only whoever has rich comes here
        from rich.console import Group  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError(
            "tables in colour are drawn by rich, which is not installed: pip install 'inbounds[rich]'; "
            "print the comparison for plain text"
        ) from missing

    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=0)
    for column, (name, width) in enumerate(zip(SHORT, WIDTHS, strict=True)):
        table.add_column(name, justify="left" if column < LEFT else "right", no_wrap=True, min_width=width)
    best = _best(rows)
    for row in rows:
        if row.not_applicable is None:
            cells = [Text(cell, "" if row.eligible else "dim") for cell in _cells(row)]
            for column, chosen in zip((MEAN, WORST), best, strict=True):
                cells[column].stylize("bold green" if row is chosen else "")
            if row.label is not None and not row.label.private:
                cells[1].stylize("bold red")
            table.add_row(*cells)
    notes = [Text(_full(caption, rows), "italic"), *(Text(refused, "dim") for refused in _refused(rows))]
    return Group(Text(title, "bold"), Text(), table, Text(), *notes)
