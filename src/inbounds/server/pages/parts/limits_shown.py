"""What row limits do to a table, as a page shows it: two limits compared, pictures, and the table beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from inbounds.display.figures import format_error
from inbounds.query.custodian.limit_errors import ErrorParts, LimitError
from inbounds.query.custodian.text import format_share
from inbounds.server.pages.pictures.bars import Bar, Picture, Row, per_cent
from inbounds.server.service.trying import LimitTrial

SERVED, TRIED = "served", "tried"

UNKNOWN = "—"


@dataclass(frozen=True)
class LimitsShown:
    """What limits do, at an ε."""

    trial: LimitTrial
    epsilon: str

    @property
    def scope(self) -> str:
        """Say how many rows and units there are."""
        rows, units = self.trial.units.rows, self.trial.units.units
        return f"{rows:,} {'row' if rows == 1 else 'rows'}, {units:,} distinct values of {self.trial.units.column}."

    @property
    def compared(self) -> list[LimitError]:
        """What the served limit does, if it is another one, and what the tried one does."""
        trial = self.trial
        served = [] if trial.served in (None, trial.tried) else [trial.error_at(trial.served or 0)]
        return [*served, trial.error_at(trial.tried)]

    @property
    def comparison(self) -> Iterator[tuple[str, list[str]]]:
        """Yield what is said of these limits, line by line."""
        units, errors = self.trial.units, self.compared
        yield "Rows left out", [_with_share(error.figures.rows, units.rows) for error in errors]
        yield "Units with more rows", [_with_share(error.figures.units, units.units) for error in errors]
        counts = [_describe(error.count) for error in errors]
        yield f"Error of COUNT(*) at ε = {self.epsilon}: left out + noise", counts
        if self.has_mean:
            means = [_describe(error.mean) for error in errors]
            yield f"Error of {self.mean_name} at ε = {self.epsilon}: shift + noise", means

    @property
    def mean_name(self) -> str:
        """The mean that was looked at, as SQL has it."""
        return "" if self.trial.column is None else f"AVG({self.trial.column.name})"

    @property
    def has_mean(self) -> bool:
        """Whether there is one: a column without a value has none."""
        return any(error.mean is not None for error in self.trial.errors)

    @property
    def pictures(self) -> Iterator[Picture]:
        """What limits leave out, and the errors of a count and of a mean under them."""
        yield Picture(
            "Left out by each row limit",
            (("cut", "rows left out"), ("units", "units with more rows")),
            "Share of rows left out, and of units with more rows, for each row limit; the table has the figures",
            tuple(self._row(error, *self._shares(error)) for error in self.trial.errors),
            " %",
        )
        # Far below the limits that are compared, what is left out would dwarf all else; the table has it.
        lowest = min(error.figures.limit for error in self.compared)
        below = [error for error in self.trial.errors if error.figures.limit < lowest]
        shown = self.trial.errors[max(0, len(below) - 1) :]
        yield self._errors("COUNT(*)", [(error, error.count) for error in shown], "rows left out")
        if self.has_mean:
            means = [(error, error.mean) for error in shown]
            yield self._errors(self.mean_name, means, "shift through the rows left out")

    def _shares(self, error: LimitError) -> Iterator[Bar]:
        figures, units = error.figures, self.trial.units
        for kind, part, whole in (("cut", figures.rows, units.rows), ("units", figures.units, units.units)):
            yield Bar(((kind, per_cent(part, whole)),), format_share(part, whole))

    def _errors(self, measure: str, errors: Sequence[tuple[LimitError, ErrorParts | None]], cut: str) -> Picture:
        """Return the picture of some errors; what is not known, or has no end, is left to the table."""
        rows = []
        for error, parts in errors:
            if parts is not None and parts.noise is not None and isfinite(parts.noise):
                rows.append(self._row(error, Bar((("cut", abs(parts.cut)), ("noise", parts.noise)), _describe(parts))))
        return Picture(
            f"Error of {measure} over all rows at ε = {self.epsilon}",
            (("cut", cut), ("noise", "noise, on average")),
            f"Error of {measure} under each row limit, through the rows left out and through noise; "
            "the table has the figures",
            tuple(rows),
        )

    def _row(self, error: LimitError, *bars: Bar) -> Row:
        return Row(f"{error.figures.limit:,}", bars, self.mark(error))

    def mark(self, error: LimitError) -> str:
        """Return whether a limit is the one that is served, or tried."""
        limit = error.figures.limit
        is_one = {SERVED: limit == self.trial.served, TRIED: limit == self.trial.tried}
        return ", ".join(word for word, is_it in is_one.items() if is_it)

    @property
    def lines(self) -> Iterator[tuple[str, str, list[str]]]:
        """Yield the table: each limit, its mark, and its figures."""
        units = self.trial.units
        for error in self.trial.errors:
            figures, mean = error.figures, error.mean
            cells = [_with_share(figures.rows, units.rows), _with_share(figures.units, units.units)]
            cells.append(_noise(error.count))
            if self.has_mean:
                cells += [UNKNOWN, UNKNOWN] if mean is None else [_signed(mean.cut), _noise(mean)]
            yield f"{figures.limit:,}", self.mark(error), cells


def format_figure(number: float) -> str:
    """Return a number with few digits, and all those before the point."""
    whole = abs(number) >= 99.5 or number == int(number)
    return f"{number:,.0f}" if whole else format_error(number, brief=True)


def _describe(parts: ErrorParts | None) -> str:
    if parts is None:
        return UNKNOWN
    return f"{format_figure(abs(parts.cut))} + {UNKNOWN if parts.noise is None else format_figure(parts.noise)}"


def _noise(parts: ErrorParts) -> str:
    return UNKNOWN if parts.noise is None else f"±{format_figure(parts.noise)}"


def _signed(number: float) -> str:
    sign = "\N{MINUS SIGN}" if number < 0 else "+" if number else ""
    return f"{sign}{format_figure(abs(number))}"


def _with_share(part: int, whole: int) -> str:
    share = format_share(part, whole).replace(" ", "\N{NO-BREAK SPACE}")
    return f"{part:,} ({share})"
