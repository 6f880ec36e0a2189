"""Columns as the contract says, whatever type a file or a frame happens to have: what does not fit is missing.

One missing value makes floats of a column of whole numbers, an odd one makes texts of it, and a column without values
has no type at all.  So the type of a column in a file or a frame tells about rows, and nothing that is public may
depend on it: neither whether a question is refused, nor the statement that is shown.  The macros below are the same for
every type (DuckDB looks `typeof` up when it binds them, so they cost little), and none of them can fail on any value.

A number beyond 2**53 is no key, in whatever type it comes, for as a float it may stand for another.
"""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

from inbounds.bounds.times import UNITS
from inbounds.query.columns import kind
from inbounds.query.columns.column import Column, Numbers
from inbounds.query.engines.engine import Kind

PREFIX = "INBOUNDS_"
"""What the names of our macros begin with."""

LARGEST = 2**53 - 1
"""Up to here doubles are the whole numbers that they say."""

INTEGERS = "('TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UTINYINT', 'USMALLINT', 'UINTEGER')"
"""The types that a BIGINT holds."""
WIDE = "('UBIGINT', 'HUGEINT', 'UHUGEINT')"
FLOATS = "('FLOAT', 'DOUBLE')"
TEXTS = "(typeof(x) IN ('VARCHAR', 'UUID', 'BLOB', 'DATE') OR typeof(x) LIKE 'ENUM(%')"

DAY_US = 86_400 * 10**6
MONTH = 30 * DAY_US
MOST_MONTHS, MOST_DAYS = 12_000, 360_000
"""Microseconds of a day and of a month of 30 days, and how many of each an interval has at most."""

ESCAPED = "\\\\x[0-9A-F]{2}"
"""What every text has in which DuckDB writes bytes that are none."""

WRITTEN = f"""{PREFIX}WRITTEN(x) AS CASE
  WHEN typeof(x) = 'BLOB' AND NOT regexp_matches(TRY(decode(TRY_CAST(x AS BLOB))), '{ESCAPED}')
    THEN TRY(decode(TRY_CAST(x AS BLOB)))
  ELSE TRY_CAST(x AS VARCHAR) END"""
"""What is written: of bytes the text that they are, for one value of bytes makes bytes of a column of texts.

Bytes that are no text are written as escapes, and so is a text that looks like escapes: two values never become one.
"""

NUMBER = f"""{PREFIX}NUMBER(x) AS CASE
  WHEN typeof(x) = 'BLOB' THEN TRY_CAST({PREFIX}WRITTEN(x) AS DOUBLE)
  WHEN regexp_matches(typeof(x), '^DECIMAL\\((1[6-9]|[23][0-9]),') THEN TRY_CAST(TRY_CAST(x AS VARCHAR) AS DOUBLE)
  ELSE TRY_CAST(x AS DOUBLE) END"""
"""A number, NULL for what is none; a wide decimal by way of text, so that it is rounded once."""

WHOLE = f"""{PREFIX}WHOLE(x, low, high) AS CASE
  WHEN typeof(x) IN {INTEGERS} THEN TRY_CAST(x AS BIGINT)
  WHEN {PREFIX}NUMBER(x) < low THEN low - 1
  WHEN {PREFIX}NUMBER(x) <= high THEN TRY_CAST(FLOOR({PREFIX}NUMBER(x) + (0.5 - low)) AS BIGINT) + low
  WHEN {PREFIX}NUMBER(x) <= CAST('Infinity' AS DOUBLE) THEN high + 1 END"""
"""A number to the nearest whole one, half up, by the same sum as in `statement.codes`; beyond the ends by one."""

DIGITS = "'^\\s*([+-]?[0-9]+)(\\.0*)?\\s*$'"

WHOLE_KEY = f"""{PREFIX}WHOLE_KEY(x) AS CASE
  WHEN typeof(x) IN ('VARCHAR', 'BLOB') THEN CASE
    WHEN TRY_CAST(regexp_extract({PREFIX}WRITTEN(x), {DIGITS}, 1) AS BIGINT) BETWEEN -{LARGEST} AND {LARGEST}
      THEN TRY_CAST(regexp_extract({PREFIX}WRITTEN(x), {DIGITS}, 1) AS BIGINT) END
  WHEN typeof(x) IN {INTEGERS} OR typeof(x) IN {WIDE} OR typeof(x) LIKE 'DECIMAL(%' OR typeof(x) IN {FLOATS}
      OR typeof(x) = 'BOOLEAN' THEN CASE
    WHEN TRY_CAST(x AS BIGINT) BETWEEN -{LARGEST} AND {LARGEST}
      AND (typeof(x) IN {INTEGERS} OR {PREFIX}NUMBER(x) = FLOOR({PREFIX}NUMBER(x))) THEN TRY_CAST(x AS BIGINT) END
  END"""
"""A whole number, NULL for a fraction, and for what is no number."""

IS_KEY = f"""{PREFIX}IS_KEY(x) AS CASE
  WHEN typeof(x) IN {INTEGERS} THEN TRY_CAST(x AS BIGINT) BETWEEN -{LARGEST} AND {LARGEST}
  ELSE {PREFIX}WHOLE_KEY(x) IS NOT NULL END"""
"""Whether there is a whole number."""

KEY = f"""{PREFIX}KEY(x) AS CASE
  WHEN typeof(x) IN {INTEGERS} THEN TRY_CAST(x AS BIGINT)
  ELSE {PREFIX}WHOLE_KEY(x) END"""
"""The whole number where there is one.

Of an integer it is the column itself, and DuckDB joins by a column several times as fast as by anything computed: it
looks for few keys while it reads, and then reads little else.
"""

FLOAT_TEXT = f"""{PREFIX}FLOAT_TEXT(x) AS CASE
  WHEN x BETWEEN -{LARGEST} AND {LARGEST} THEN CASE
    WHEN x = FLOOR(x) THEN TRY_CAST(TRY_CAST(x AS BIGINT) AS VARCHAR)
    WHEN x NOT BETWEEN -1e-4 AND 1e-4 THEN TRY_CAST(x AS VARCHAR) END
  END"""
"""A double as people write it, a whole one without a point; NULL where writing it takes an exponent."""

DECIMAL_TEXT = f"""{PREFIX}DECIMAL_TEXT(x) AS CASE
  WHEN typeof(x) LIKE 'DECIMAL(%,0)' THEN TRY_CAST(x AS VARCHAR)
  ELSE rtrim(rtrim(regexp_replace(TRY_CAST(x AS VARCHAR), '^(-?)\\.', '\\10.'), '0'), '.') END"""
"""A decimal without zeros behind the last digit; a type with no digit before the point is written without any."""

MOMENT = f"""{PREFIX}MOMENT(x) AS CASE
  WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE' THEN timezone('UTC', TRY_CAST(x AS TIMESTAMPTZ))
  WHEN typeof(x) LIKE 'TIMESTAMP%' THEN TRY_CAST(x AS TIMESTAMP) END"""
"""A time; one in a zone, of which a file keeps no more than the moment, in UTC."""

DAY = f"""{PREFIX}DAY(x) AS CASE
  WHEN typeof(x) LIKE 'TIMESTAMP%' THEN TRY_CAST({PREFIX}MOMENT(x) AS DATE)
  WHEN typeof(x) IN ('DATE', 'VARCHAR') THEN TRY_CAST(x AS DATE)
  WHEN typeof(x) = 'BLOB' THEN TRY_CAST({PREFIX}WRITTEN(x) AS DATE) END"""
"""A day, of a time the day that it is on."""

_TIME = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\\.[0-9]+)?)?"
_AHEAD = "Z|([+-][0-9]{2})(?::?([0-9]{2}))?"
ISO = f"^\\s*([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[ T]{_TIME})?)\\s*(?:{_AHEAD})?\\s*$"
"""A time in ISO 8601: what a clock shows, and after it the hours and minutes that the clock is ahead of UTC."""

CUT = f"""{PREFIX}CUT(x) AS regexp_replace(x, '(\\.[0-9]{{6}})[0-9]+$', '\\1')"""
"""A time without what is finer than a microsecond, which a cast would round."""

TIMESTAMP = f"""{PREFIX}TIMESTAMP(x) AS CASE
  WHEN typeof(x) LIKE 'TIMESTAMP%' THEN {PREFIX}MOMENT(x)
  WHEN typeof(x) = 'DATE' THEN TRY_CAST(x AS TIMESTAMP)
  WHEN typeof(x) IN ('VARCHAR', 'BLOB')
    THEN TRY_CAST({PREFIX}CUT(regexp_extract({PREFIX}WRITTEN(x), '{ISO}', 1)) AS TIMESTAMP) END"""
"""A time as it is written; of a text with an offset, what the clock there shows."""

INSTANT = f"""{PREFIX}INSTANT(x) AS CASE
  WHEN typeof(x) IN ('VARCHAR', 'BLOB') AND regexp_extract({PREFIX}WRITTEN(x), '{ISO}', 2) <> ''
    THEN timezone('UTC', TRY_CAST(concat(
      {PREFIX}CUT(regexp_extract({PREFIX}WRITTEN(x), '{ISO}', 1)), regexp_extract({PREFIX}WRITTEN(x), '{ISO}', 2), ':',
      coalesce(nullif(regexp_extract({PREFIX}WRITTEN(x), '{ISO}', 3), ''), '00')) AS TIMESTAMPTZ))
  ELSE {PREFIX}TIMESTAMP(x) END"""
"""A moment in UTC; of a text with an offset, that much earlier."""

CLOCK = f"""{PREFIX}CLOCK(x) AS CASE
  WHEN typeof(x) IN ('TIME', 'TIME_NS') THEN TRY_CAST(x AS TIME)
  WHEN typeof(x) IN ('VARCHAR', 'BLOB')
    THEN TRY_CAST({PREFIX}CUT(regexp_extract({PREFIX}WRITTEN(x), '^\\s*({_TIME})\\s*$', 1)) AS TIME) END"""
"""A time of day."""

INTERVAL = f"""{PREFIX}INTERVAL(x) AS CASE WHEN x IS NOT NULL THEN
  least(greatest(datepart('year', x) * 12 + datepart('month', x), -{MOST_MONTHS}), {MOST_MONTHS}) * {MONTH}
  + least(greatest(datepart('day', x), -{MOST_DAYS}), {MOST_DAYS}) * {DAY_US}
  + least(greatest(datepart('hour', x) * 3600000000 + datepart('minute', x) * 60000000 + datepart('microsecond', x),
    -{MOST_DAYS * DAY_US}), {MOST_DAYS * DAY_US}) END"""
"""The microseconds of an interval, which is kept as months, days and microseconds; each is clipped to a thousand years.

What is missing is asked first, for LEAST and GREATEST pass over it."""

DURATION = f"""{PREFIX}DURATION(x, unit) AS CASE
  WHEN typeof(x) = 'INTERVAL' THEN TRY_CAST({PREFIX}INTERVAL(TRY_CAST(x AS INTERVAL)) AS DOUBLE) / unit
  WHEN typeof(x) IN ('VARCHAR', 'BLOB')
      AND regexp_matches({PREFIX}WRITTEN(x), '^\\s*[+-]?[0-9]{{1,6}}:[0-9]{{2}}(:[0-9]{{2}}(\\.[0-9]+)?)?\\s*$')
    THEN TRY_CAST({PREFIX}INTERVAL(TRY_CAST({PREFIX}WRITTEN(x) AS INTERVAL)) AS DOUBLE) / unit
  ELSE {PREFIX}NUMBER(x) END"""
"""An interval as a number of units, a text such as 1:30:00 among them; a number is one of units already."""

TEXT = f"""{PREFIX}TEXT(x) AS CASE
  WHEN {TEXTS} OR typeof(x) = 'BOOLEAN' OR typeof(x) IN {INTEGERS} OR typeof(x) IN {WIDE} THEN {PREFIX}WRITTEN(x)
  WHEN typeof(x) = 'FLOAT' AND TRY_CAST(x AS DOUBLE) <> FLOOR(TRY_CAST(x AS DOUBLE)) THEN TRY_CAST(x AS VARCHAR)
  WHEN typeof(x) IN {FLOATS} THEN {PREFIX}FLOAT_TEXT(TRY_CAST(x AS DOUBLE))
  WHEN typeof(x) LIKE 'DECIMAL(%' THEN {PREFIX}DECIMAL_TEXT(x)
  WHEN {PREFIX}MOMENT(x) = TRY_CAST({PREFIX}DAY(x) AS TIMESTAMP) THEN TRY_CAST({PREFIX}DAY(x) AS VARCHAR) END"""
"""A text, or what a number, a truth value or a day is written as; NULL for what has no one way of being written.

A time that is the beginning of a day is that day: one time makes times of a column of days.
"""

TEXT_KEY = f"""{PREFIX}TEXT_KEY(x) AS CASE
  WHEN typeof(x) LIKE 'DECIMAL(%' THEN {PREFIX}FLOAT_TEXT({PREFIX}NUMBER(x))
  WHEN typeof(x) IN {INTEGERS} OR typeof(x) IN {WIDE} THEN CASE
    WHEN {PREFIX}NUMBER(x) BETWEEN -{LARGEST} AND {LARGEST} THEN {PREFIX}TEXT(x) END
  ELSE {PREFIX}TEXT(x) END"""
"""A text; of a decimal that of the nearest double, for a decimal of many digits makes doubles of a whole column."""

TRUTH = f"""{PREFIX}TRUTH(x) AS CASE
  WHEN typeof(x) IN ('BOOLEAN', 'VARCHAR') THEN TRY_CAST(x AS BOOLEAN)
  WHEN typeof(x) = 'BLOB' THEN TRY_CAST({PREFIX}WRITTEN(x) AS BOOLEAN)
  WHEN {PREFIX}NUMBER(x) = 1 THEN TRUE
  WHEN {PREFIX}NUMBER(x) = 0 THEN FALSE END"""

THERE = f"""{PREFIX}THERE(x) AS CASE
  WHEN typeof(x) IN {FLOATS} THEN TRY_CAST(x AS DOUBLE) <= CAST('Infinity' AS DOUBLE)
  WHEN typeof(x) IN ('VARCHAR', 'BLOB') THEN {PREFIX}WRITTEN(x) <> ''
  ELSE x IS NOT NULL END"""
"""Whether there is a value, whatever it is; for the custodian, who wants to know how many are not read."""

MACROS = (
    WRITTEN, NUMBER, WHOLE, WHOLE_KEY, IS_KEY, KEY, FLOAT_TEXT, DECIMAL_TEXT, MOMENT, DAY,
    CUT, TIMESTAMP, INSTANT, CLOCK, INTERVAL, DURATION, TEXT, TEXT_KEY, TRUTH, THERE
)  # fmt: skip
"""Each is made of those before it."""


KINDS = {
    kind.TEXT_KEY: Kind.TEXT, kind.WHOLE_KEY: Kind.INTEGER, kind.TRUTH_KEY: Kind.BOOLEAN, kind.DAY: Kind.DATE,
    kind.TIME: Kind.TIMESTAMP, kind.CLOCK: Kind.TIME,
}  # fmt: skip
READERS = {
    kind.TEXT_KEY: "TEXT_KEY", kind.WHOLE_KEY: "WHOLE_KEY", kind.TRUTH_KEY: "TRUTH", kind.DAY: "DAY",
    kind.TIME: "TIMESTAMP", kind.CLOCK: "CLOCK",
}  # fmt: skip
"""What columns hold once they are read, and the macros that read them; of numbers their step decides."""


def kind_of(column: Column) -> Kind:
    """Return what a column holds once it is read: that follows from the contract."""
    if zone_of(column) is not None:
        return Kind.TIMESTAMP
    return KINDS.get(column.kind) or (Kind.INTEGER if _is_whole(column) else Kind.FLOAT)


def read(column: Column | None, stored: exp.Expr) -> exp.Expr:
    """Return a column as the contract says; one that it does not describe, such as the unit, as text."""
    if column is None:
        return call_macro("TEXT", stored)
    if zone_of(column) is not None:
        return call_macro("INSTANT", stored)
    if isinstance(column, Numbers) and column.duration is not None:
        return call_macro("DURATION", stored, exp.convert(int(UNITS[column.duration] * 10**6)))
    if _is_whole(column):
        return call_macro("WHOLE", stored, exp.convert(int(column.low)), exp.convert(int(column.high)))
    return call_macro(READERS.get(column.kind, "NUMBER"), stored)


def zone_of(column: Column | None) -> str | None:
    """Return the time zone whose clock a column is read by, if there is one."""
    return column.zone if isinstance(column, Numbers) else None


def is_whole_key(column: Column | None) -> bool:
    """Return whether a column is read as a key that is a whole number."""
    return column is not None and column.kind is kind.WHOLE_KEY


def call_macro(macro: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of one of our macros."""
    return exp.Anonymous(this=PREFIX + macro, expressions=[argument.copy() for argument in arguments])


def _is_whole(column: Column) -> TypeGuard[Numbers]:
    """Return whether a column holds whole numbers that can be added up, unlike days."""
    if not isinstance(column, Numbers) or column.kind is not kind.NUMBER or column.duration is not None:
        return False
    return column.step == 1 and column.low.denominator == 1
