"""Days and times in other words: names of days and months, differences, and days that are moved."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from inbounds.query.spelling.day_forms import of_java, of_mysql, of_postgres
from inbounds.query.spelling.spelling import Spelling, call, grouped, number, text, word


def _name_of_day(node: exp.Expr) -> exp.Expr | None:
    return call("STRFTIME", node.expressions[0], text("%A")) if len(node.expressions) == 1 else None


def _name_of_month(node: exp.Expr) -> exp.Expr | None:
    return call("STRFTIME", node.expressions[0], text("%B")) if len(node.expressions) == 1 else None


def _form(node: exp.Expr) -> exp.Expr | None:
    """strftime('%Y', day), TO_CHAR(day, 'YYYY'), DATE_FORMAT(day, '%Y'), FORMAT(day, 'yyyy')."""
    if len(node.expressions) != 2:
        return None
    texts = [isinstance(part, exp.Literal) and part.is_string for part in node.expressions]
    if texts not in ([False, True], [True, False]):
        return None
    day, literal = node.expressions if texts[1] else reversed(node.expressions)
    form, name = str(literal.this), node.name.upper()
    if name == "STRFTIME" and texts[1]:
        return None  # as it is read
    if name == "FORMAT_DATE":
        form = form.replace("%Q", "%q")
    elif name == "TO_CHAR":
        form = of_postgres(form) or form
    elif name == "FORMAT" and len(form) == 1:
        return None  # which .NET takes for a whole pattern
    elif name in ("DATE_FORMAT", "FORMAT"):
        form = of_mysql(form) if "%" in form else of_java(form) or form
    return call("STRFTIME", day, text(form))


def _difference(node: exp.Expr) -> exp.Expr | None:
    """DATEDIFF('day', a, b), DATEDIFF(day, a, b), and DATEDIFF(b, a) as MySQL has it."""
    arguments = list(node.expressions)
    if len(arguments) == 2 and node.name.upper() == "DATEDIFF":
        return _days(*arguments)
    if len(arguments) != 3:
        return None
    first, last = word(arguments[0]), word(arguments[2])
    if node.name.upper() == "DATE_DIFF" and not isinstance(arguments[0], exp.Literal):  # as BigQuery has it
        return APART[last](arguments[0], arguments[1]) if last in APART else None
    return APART[first](arguments[2], arguments[1]) if first in APART else None


def _subtract(end: exp.Expr, start: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Sub(this=grouped(end), expression=grouped(start)))


def _days(end: exp.Expr, start: exp.Expr) -> exp.Expr:
    """Return how many days begin between two days or times; times as they are would be apart in seconds."""
    return _subtract(*(_day_of(side) for side in (end, start)))


def _day_of(node: exp.Expr) -> exp.Expr:
    is_day = isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE
    return node if is_day else exp.cast(node, "DATE")


def _stretches(unit: str, seconds: int) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    """Return what counts how many hours, minutes or seconds begin between two times."""

    def apart(end: exp.Expr, start: exp.Expr) -> exp.Expr:
        begins = [call("DATE_TRUNC", text(unit), side) for side in (end, start)]
        return exp.Paren(this=exp.Div(this=_subtract(*begins), expression=number(seconds)))

    return apart


def _years(end: exp.Expr, start: exp.Expr) -> exp.Expr:
    return _subtract(call("YEAR", end), call("YEAR", start))


def _parts_of_years(part: str, count: int) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    """Return what counts how many times a part of the year begins between two days."""

    def apart(end: exp.Expr, start: exp.Expr) -> exp.Expr:
        years = exp.Mul(this=_years(end.copy(), start.copy()), expression=number(count))
        return exp.Paren(this=exp.Add(this=years, expression=_subtract(call(part, end), call(part, start))))

    return apart


APART: dict[str, Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    "day": _days,
    "month": _parts_of_years("MONTH", 12),
    "quarter": _parts_of_years("QUARTER", 4),
    "year": _years,
    "hour": _stretches("hour", 3600),
    "minute": _stretches("minute", 60),
    "second": _stretches("second", 1),
}
"""How far two days or times are apart: how many of these begin between them.  Databases do not agree about weeks."""

UNITS = (*APART, "week")


def _move(node: exp.Expr) -> exp.Expr | None:
    """DATE_ADD(day, INTERVAL 3 DAY), DATEADD(day, 3, day), DATE_SUB(…)."""
    arguments = list(node.expressions)
    back = node.name.upper() in ("DATE_SUB", "DATESUB")
    operator = exp.Sub if back else exp.Add
    if len(arguments) == 2 and isinstance(arguments[1], exp.Interval):
        return exp.Paren(this=operator(this=grouped(arguments[0]), expression=arguments[1]))
    if len(arguments) != 3:
        return None
    unit, count, day = word(arguments[0]), arguments[1], arguments[2]
    negative = isinstance(count, exp.Neg)
    digits = count.this if negative else count
    if unit not in UNITS or not isinstance(digits, exp.Literal) or not str(digits.this).isdigit():
        return None
    if negative:
        operator = exp.Add if back else exp.Sub
    interval = exp.Interval(this=text(str(digits.this)), unit=exp.Var(this=unit.upper()))
    return exp.Paren(this=operator(this=grouped(day), expression=interval))


def _truncate(node: exp.Expr) -> exp.Expr | None:
    """DATE_TRUNC(day, MONTH)."""
    if len(node.expressions) != 2:
        return None
    first, second = node.expressions
    is_unit = isinstance(second, exp.Column) and word(second) in APART  # weeks begin on Sunday where it is written so
    if is_unit and not isinstance(first, exp.Literal):
        return call("DATE_TRUNC", text(word(second)), first)
    return None


def _part(node: exp.Expr) -> exp.Expr | None:
    """DATEPART(month, day); weeks and weekdays are counted otherwise where it is written so."""
    if len(node.expressions) != 2 or word(node.expressions[0]) not in APART:
        return None
    return call("DATE_PART", text(word(node.expressions[0])), node.expressions[1])


def _weekday(node: exp.Expr) -> exp.Expr | None:
    """EXTRACT(DOW FROM day), from Sunday on, and EXTRACT(ISODOW FROM day), from Monday on."""
    if isinstance(node, exp.Extract):
        name, day = str(node.this.name).lower(), node.expression
    elif len(node.expressions) == 2:
        name, day = word(node.expressions[0]), node.expressions[1]
    else:
        return None
    if name not in ("dow", "isodow"):
        return None
    next_day = exp.Add(this=call("WEEKDAY", day), expression=number(1))
    return exp.Paren(this=next_day) if name == "isodow" else call("MOD", next_day, number(7))


def _read_day(node: exp.Expr) -> exp.Expr | None:
    """TO_DATE('2026-01-31', 'YYYY-MM-DD'), and TO_DATE(day)."""
    arguments = node.expressions
    if len(arguments) == 1:
        return _as_day(node)
    if len(arguments) != 2 or word(arguments[1]) not in ("yyyy-mm-dd", "%y-%m-%d"):
        return None
    return exp.cast(arguments[0], "DATE") if isinstance(arguments[0], exp.Literal) else None


MIDNIGHT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]00:00(:00(\.0+)?)?")


def _midnight(node: exp.Expr) -> exp.Expr | None:
    """day >= '2026-01-31 00:00:00', as programs write it."""
    side = node.expression
    found = MIDNIGHT.fullmatch(str(side.this)) if isinstance(side, exp.Literal) and side.is_string else None
    return None if found is None else type(node)(this=node.this, expression=text(found[1]))


TODAY = (
    "NOW", "TODAY", "CURRENT_DATE", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "GETDATE", "GETUTCDATE", "SYSDATETIME",
    "SYSDATE", "CURDATE", "UTC_DATE", "TRANSACTION_TIMESTAMP",
)  # fmt: skip


def _today(node: exp.Expr) -> exp.Expr | None:
    """NOW(), CURRENT_TIMESTAMP, TODAY(): the day, at whose beginning it is."""
    return None if node.expressions or node.args.get("this") not in (None, node.name) else exp.CurrentDate()


def _as_day(node: exp.Expr) -> exp.Expr | None:
    """DATE(day), and DATE('now')."""
    if len(node.expressions) == 1 and word(node.expressions[0]) == "now":
        return exp.CurrentDate()
    return exp.cast(node.expressions[0], "DATE") if len(node.expressions) == 1 else None


DAY_SPELLINGS = (
    Spelling(("DAYNAME",), _name_of_day, "group", "DAYNAME(day)", "STRFTIME(day, '%A')"),
    Spelling(("MONTHNAME",), _name_of_month, "group", "MONTHNAME(day)", "STRFTIME(day, '%B')"),
    Spelling(
        ("STRFTIME", "TO_CHAR", "DATE_FORMAT", "FORMAT_DATE", "FORMAT"),
        _form,
        "group",
        "TO_CHAR(day, 'YYYY-\"Q\"Q')",
        "STRFTIME(day, '%Y-Q%q')",
    ),
    Spelling(("DATE_FORMAT",), _form, "group", "DATE_FORMAT(day, '%M %Y')", "STRFTIME(day, '%B %Y')"),
    Spelling(("FORMAT",), _form, "group", "FORMAT(day, 'yyyy-MM')", "STRFTIME(day, '%Y-%m')"),
    Spelling(
        ("DATEDIFF", "DATE_DIFF"),
        _difference,
        "value",
        "DATEDIFF('month', born, day)",
        "(YEAR(day) - YEAR(born)) * 12 + (MONTH(day) - MONTH(born))",
    ),
    Spelling(
        ("DATE_ADD", "DATEADD", "DATE_SUB", "DATESUB"),
        _move,
        "condition",
        "day > DATE_ADD(DATE '2026-01-01', INTERVAL '3' DAY)",
        "day > DATE '2026-01-01' + INTERVAL '3' DAY",
    ),
    Spelling(("DATE_TRUNC", "DATETRUNC"), _truncate, "group", "DATE_TRUNC(day, MONTH)", "DATE_TRUNC('month', day)"),
    Spelling(("DATEPART",), _part, "group", "DATEPART(month, day)", "MONTH(day)"),
    Spelling(
        (exp.Extract, "DATE_PART"),
        _weekday,
        "group",
        "EXTRACT(DOW FROM day)",
        "MOD(WEEKDAY(day) + 1, 7)",
        words=("EXTRACT", "DOW", "ISODOW"),
    ),
    Spelling(
        ("TO_DATE",),
        _read_day,
        "condition",
        "day >= TO_DATE('2026-03-01', 'YYYY-MM-DD')",
        "day >= DATE '2026-03-01'",
    ),
    Spelling((exp.GTE, exp.LT), _midnight, "condition", "day >= '2026-03-01 00:00:00.000'", "day >= '2026-03-01'"),
    Spelling(("DATE",), _as_day, "group", "DATE(day)", "day"),
    Spelling(
        (*TODAY, exp.CurrentTimestamp, exp.Localtimestamp),
        _today,
        "condition",
        "day >= DATE_TRUNC('month', NOW())",
        "day >= DATE_TRUNC('month', CURRENT_DATE)",
        words=TODAY,
    ),
)
