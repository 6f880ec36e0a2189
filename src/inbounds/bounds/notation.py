"""The text of bounds: `[0, 5] | [7, inf)`, `[0.5, 9.5] step 1 offset 0.5`, `[2026-01-01, 2026-01-02]`.

The grammar, with white space free between its parts:

    bounds   = span {"|" span} ["step" pitch ["offset" pitch]]
    span     = ("[" end | "(" "-inf") "," (end "]" | "inf" ")")
    end      = number | date | time | clock, the same kind throughout; dates take no step
    pitch    = number, or for times a duration: a whole number with us, ms, s, min, h or d behind it, such as 15min
    number   = an integer, a decimal, with an exponent if need be, or a fraction such as 1/3
    time     = a date and a time of day, such as 2026-01-01 23:59:59; seconds and their fraction may be left out
    clock    = a time of day, such as 23:59
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, NoReturn, TypeAlias

from inbounds.bounds import times
from inbounds.bounds.times import Values
from inbounds.errors import InvalidBounds
from inbounds.exact.rational import LONGEST_DIGITS, exact, rounded, write_fraction

End: TypeAlias = "int | Fraction | float | date | time"
_Read: TypeAlias = "int | Fraction | float"

_TOKEN = re.compile(
    rf"""(?P<time>{times.MOMENT})
      | (?P<clock>{times.CLOCK})
      | (?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})
      | (?P<duration>{times.DURATION})
      | (?P<fraction>[+-]?[0-9]+\s*/\s*[0-9]+)
      | (?P<decimal>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[+-]?[A-Za-z]+)
      | (?P<mark>[\[\](),|])""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")

# What people write for a day: 2026-1-5, 5.1.2026, 01/05/2026, 5 Jan 2026.
_LIKE_A_DAY = re.compile(
    r"""[0-9]{4} [-./] [0-9]{1,2} [-./] [0-9]{1,2}
      | [0-9]{1,2} [-./] [0-9]{1,2} [-./] [0-9]{4}
      | (?: jan | feb | mar | apr | may | jun | jul | aug | sep | oct | nov | dec ) [a-z]*""",
    re.VERBOSE | re.IGNORECASE,
)


class Span(NamedTuple):
    """A maximal run of possible values, both ends possible; ints where integral, `inf` where there is no end."""

    low: End
    high: End


_NOUNS: dict[Values, str] = {"number": "number", "day": "date", "time": "date with a time", "clock": "time of day"}


class Written(NamedTuple):
    """What a text of bounds says; the ends of dates are day numbers (`date.toordinal()`), those of times seconds."""

    spans: list[tuple[_Read, _Read]]
    step: Fraction | None
    offset: Fraction
    values: Values


def as_answer(value: Fraction, values: Values) -> int | Fraction | date | time:
    """Return a value as people write it: a day or a time, or an int, or a fraction where not integral."""
    if values == "day":
        return date.fromordinal(int(value))
    if values != "number":
        return times.moment_at(value) if values == "time" else times.clock_at(value)
    return value.numerator if value.denominator == 1 else value


def write_end(end: End) -> str:
    """Return a date or a time as ISO, and a number exactly: as a decimal if that terminates, else as a fraction."""
    return write_fraction(end) if isinstance(end, Fraction) else str(end)


def write(
    spans: Iterable[Span],
    step: Fraction | None,
    offset: Fraction,
    values: Values = "number",
    write_number: Callable[[End], str] = write_end,
) -> str:
    """Return the text of the union of `spans`, each number as `write_number` has it."""
    text = " | ".join(write_span(span, write_number) for span in spans)
    if values == "day":
        return text
    write_pitch: Callable[[Fraction], str] = write_number if values == "number" else times.write_duration
    if step is not None:
        text += f" step {write_pitch(step)}"
    if offset:
        text += f" offset {write_pitch(offset)}"
    return text


def write_span(span: Span, write_number: Callable[[End], str] = write_end) -> str:
    """Return a span as `[low, high]`, an infinite end open."""
    left = "(" if span.low == -math.inf else "["
    right = ")" if span.high == math.inf else "]"
    return f"{left}{write_number(span.low)}, {write_number(span.high)}{right}"


def write_briefly(end: End) -> str:
    """Return what `write_end` returns if that is short, else the number rounded: for messages, not to be read again."""
    text = write_end(end)
    if isinstance(end, int | Fraction) and len(text) > LONGEST_DIGITS:
        return rounded(end, 17)
    return text


def read(text: str) -> Written:
    """Return what `text` says; raise InvalidBounds with the place and what was expected there."""
    reader = _Reader(text)
    spans = [reader.span()]
    while reader.take("|"):
        spans.append(reader.span())
    values = reader.values or "number"
    step, offset = None, Fraction(0)
    if values != "day" and reader.take("step"):
        step = reader.pitch()
        if reader.take("offset"):
            offset = reader.pitch()
    reader.finish(after_dates=values == "day", after_step=step is not None)
    return Written(spans, step, offset, values)


class _Reader:
    """A text and a place in it, with the token that starts there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.values: Values | None = None  # unknown before the first end
        self._move(0)

    def span(self) -> tuple[_Read, _Read]:
        low = self._low()
        self._expect(",", "','")
        return low, self._high()

    def _low(self) -> _Read:
        if self.take("("):
            self._same_kind("number")
            self._expect("-inf", "'-inf' (a finite end takes '[')")
            return -math.inf
        self._expect("[", "'[' or '(-inf'")
        return self._end()

    def _high(self) -> _Read:
        if self.token in ("inf", "+inf"):
            self._same_kind("number")
            self._move(self.stop)
            self._expect(")", "')' after inf")
            return math.inf
        end = self._end()
        self._expect("]", "']' (a finite end is always included)")
        return end

    def _end(self) -> _Read:
        if self.kind not in ("date", "time", "clock"):
            if self.kind in ("fraction", "decimal"):
                self._same_kind("number")
            return self.number()
        values: Values = "day" if self.kind == "date" else "time" if self.kind == "time" else "clock"
        self._same_kind(values)
        try:
            number = self._time(values)
        except ValueError:
            self._fail("a time of day" if values == "clock" else "a day of the calendar")
        self._move(self.stop)
        return number

    def _time(self, values: Values) -> int | Fraction:
        if values == "day":
            return date.fromisoformat(self.token).toordinal()
        return times.parse_moment(self.token) if values == "time" else times.parse_clock(self.token)

    def pitch(self) -> Fraction:
        """Read a step or an offset: a number, or among times a duration."""
        if self.values in (None, "number"):
            return self.number()
        if self.kind != "duration":
            self._fail(f"a duration, such as 1s or 15min (units are {', '.join(times.UNITS)})")
        duration = times.read_duration(self.token, "step")
        self._move(self.stop)
        return duration

    def number(self) -> Fraction:
        if self.kind not in ("fraction", "decimal"):
            self._fail("a number (no end is written '(-inf' or 'inf)')")
        try:
            number = exact(_fraction(self.token), "number")
        except (ArithmeticError, ValueError):
            self._fail("a number (of at most some 600 digits, and no division by 0)")
        self._move(self.stop)
        return number

    def take(self, token: str) -> bool:
        """Return whether `token` is next, and step over it if so."""
        if self.token != token:
            return False
        self._move(self.stop)
        return True

    def finish(self, *, after_dates: bool, after_step: bool) -> None:
        if self.start < len(self.text):
            more = "'offset' or " if after_step else "'|' or " if after_dates else "'|', 'step' or "
            self._fail(f"{more}the end")

    def _same_kind(self, values: Values) -> None:
        if self.values is None:
            self.values = values
        if self.values != values:
            self._fail(f"a {_NOUNS[self.values]} (dates, times, times of day, and numbers or inf do not mix)")

    def _expect(self, token: str, description: str) -> None:
        if not self.take(token):
            self._fail(description)

    def _move(self, place: int) -> None:
        """Go to the first token at or after `place`."""
        space = _SPACE.match(self.text, place)
        self.start = space.end() if space else place
        match = _TOKEN.match(self.text, self.start)
        self.kind = (match.lastgroup or "") if match else ""
        self.token = match.group() if match else ""
        self.stop = match.end() if match else self.start

    def _fail(self, expected: str) -> NoReturn:
        rest = self.text[self.start : self.start + 16]
        received = repr(rest) if rest else "the end"
        raise InvalidBounds(
            f"bounds cannot be read at character {self.start + 1}: expected {expected}, found {received}; "
            f"write them like {_pattern(self.text)}"
        )


def _pattern(text: str) -> str:
    """Return examples of bounds to follow: of times or days, if that is what a text seems to mean."""
    if re.search(r"[0-9]:[0-9]|step *[0-9]+[a-z]", text):
        return "'[2026-01-01 00:00, 2026-12-31 23:59:59] step 1s' or '[06:00, 22:00] step 15min'"
    if _LIKE_A_DAY.search(text):
        return "'[2026-01-01, 2026-12-31]' or '[2026-01-05, 2026-01-09] | [2026-01-12, 2026-01-16]'"
    return "'[0, 5] | [7, inf)', '[0, 120] step 1' or '[2026-01-01, 2026-12-31]'"


def _fraction(token: str) -> Fraction | Decimal:
    """Return the number of a `fraction` or `decimal` token, a decimal still unevaluated as it may be vast."""
    if "/" not in token:
        return Decimal(token)
    numerator, denominator = token.split("/")
    return Fraction(int(numerator), int(denominator))
