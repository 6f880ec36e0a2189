"""Times in a text of SQL: constants such as TIMESTAMP '2026-12-31 23:59'."""

from __future__ import annotations

from datetime import date, datetime, time

from sqlglot import exp

from inbounds.bounds.times import clock_at, moment_at, parse_clock, parse_moment
from inbounds.query.grammar.text import SqlText, kind

TYPE = exp.DataType.Type
MOMENTS = (TYPE.TIMESTAMP, TYPE.TIMESTAMPNTZ, TYPE.DATETIME, TYPE.TIMESTAMPTZ, TYPE.TIMESTAMPLTZ)
CLOCKS = (TYPE.TIME,)


def is_time(node: exp.Expr | None) -> bool:
    """Return whether a node is a constant that is a moment or a time of day."""
    is_cast = isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string
    return is_cast and node.to.this in (*MOMENTS, *CLOCKS)  # type: ignore[union-attr]


def read_time(text: SqlText, node: exp.Cast) -> datetime | time:
    """Return a constant that is a moment or a time of day."""
    text.take(node, "this", "to")
    text.take(node.to, "this")
    text.take_word("CAST")
    text.take(node.this, "this", "is_string")
    written, is_clock = str(node.this.this), node.to.this in CLOCKS
    try:
        return clock_at(parse_clock(written)) if is_clock else moment_at(parse_moment(written))
    except ValueError:
        like = "TIME '23:59:59'" if is_clock else "TIMESTAMP '2026-12-31 23:59:59'"
        text.refuse(
            node, f"{kind(node)} is not a local time, which has no offset from UTC behind it; write it like {like}"
        )


def to_constant(written: str, like: object) -> date | time | None:
    """Return a text beside a day or a time as one of these; None if it is none."""
    try:
        if isinstance(like, time):
            return clock_at(parse_clock(written))
        return moment_at(parse_moment(written)) if isinstance(like, datetime) else date.fromisoformat(written)
    except ValueError:
        return None
