"""CURRENT_DATE: the day that the contract says, so that an answer means the same whenever it is shown again."""

from __future__ import annotations

from datetime import date, datetime

from sqlglot import exp

from inbounds.query.columns.column import Numbers, as_value
from inbounds.query.grammar.text import SqlText

ANY_DAY = date(2026, 12, 31)


def read_today(text: SqlText, node: exp.CurrentDate) -> str:
    """Return the day that is today; refuse it if the contract says none, for a clock would say another tomorrow."""
    text.take(node)
    today = None if text.asked is None else text.asked.today
    if today is None:
        day = _last_day(text)
        text.refuse(
            node,
            "the contract does not say which day is today, and an answer must keep its meaning; write the day, as in "
            f"DATE '{day}', or add today = \"{day}\" to [dataset]",
        )
    return str(today)


def _last_day(text: SqlText) -> date:
    """Return the last day that a column of the table can hold, or any if it has no such column."""
    columns = [] if text.asked is None else text.asked.columns.values()
    ends = [as_value(column, column.high) for column in columns if isinstance(column, Numbers)]
    days = [end.date() if isinstance(end, datetime) else end for end in ends if isinstance(end, date)]
    return max(days, default=ANY_DAY)
