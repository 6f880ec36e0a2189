"""A budget that refreshes: how much each month, quarter or year may take, and how much all of them together.

Periods are those of the calendar in UTC: whoever reads a ledger finds the same ones, without a table of time zones.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from enum import Enum
from fractions import Fraction

from inbounds.errors import InvalidParameter
from inbounds.exact.amount import LIMIT, Amount, format_amount, fraction, units
from inbounds.exact.rational import shown
from inbounds.ledger.values.entry import Entry

MONTHS = 12


class Refresh(Enum):
    """How many months a period has."""

    MONTHLY = 1
    QUARTERLY = 3
    YEARLY = 12

    @classmethod
    def read(cls, text: object) -> Refresh:
        """Read one by its name."""
        found = next((one for one in cls if one.word == text), None)
        if found is None:
            names = ", ".join(repr(one.word) for one in cls)
            raise InvalidParameter(f"refresh must be one of {names}, got {shown(text)}; write one of these")
        return found

    @property
    def word(self) -> str:
        """What it is called."""
        return self.name.lower()

    @property
    def period(self) -> str:
        """What a period is called."""
        return {1: "month", 3: "quarter", 12: "year"}[self.value]

    @property
    def in_a_year(self) -> int:
        """How many periods a year has."""
        return MONTHS // self.value

    def first_day(self, day: date) -> date:
        """Return the first day of the period that a day is in."""
        return day.replace(month=(day.month - 1) // self.value * self.value + 1, day=1)

    def next_first_day(self, first: date) -> date:
        """Return the first day of the period after the one that begins on a day."""
        years, month = divmod(first.month - 1 + self.value, MONTHS)
        return date(first.year + years, month + 1, 1)


@dataclass(frozen=True)
class Period:
    """One month, quarter or year."""

    refresh: Refresh
    begins: date

    @classmethod
    def read(cls, refresh: str, begins: str) -> Period:
        """Read what `data` wrote."""
        return cls(Refresh.read(refresh), date.fromisoformat(begins))

    @property
    def until(self) -> date:
        """The day on which the next one begins."""
        return self.refresh.next_first_day(self.begins)

    def data(self) -> dict[str, str]:
        """Return it as a dictionary."""
        begins, until = self.begins.isoformat(), self.until.isoformat()
        return {"name": str(self), "refresh": self.refresh.word, "begins": begins, "until": until}

    def __str__(self) -> str:
        if self.refresh is Refresh.MONTHLY:
            return f"{self.begins:%Y-%m}"
        quarter = f"-Q{(self.begins.month + 2) // 3}" if self.refresh is Refresh.QUARTERLY else ""
        return f"{self.begins:%Y}{quarter}"


@dataclass(frozen=True)
class Allowance:
    """What may be spent of a dataset, in units: in each period, if there are any, and in all of them together."""

    total: int
    per_analyst: int | None
    refresh: Refresh | None = None
    lifetime: int | None = None
    """What all periods together may take; None if there is no end, or no periods."""

    @classmethod
    def of(
        cls,
        total: Amount,
        per_analyst: Amount | None,
        refresh: object,
        lifetime: Amount | None,
        delta: Amount | None = None,
    ) -> Allowance:
        """Read what a dataset is to be opened with; what refreshes cannot have a delta."""
        allowance = cls(
            units(total, "total"),
            None if per_analyst is None else units(per_analyst, "per_analyst"),
            None if refresh is None else Refresh.read(refresh),
            None if lifetime is None else units(lifetime, "lifetime"),
        )
        if allowance.lifetime is not None and allowance.refresh is None:
            raise InvalidParameter(
                f"lifetime is for a budget that refreshes, got {shown(lifetime)} without refresh; leave it out, or "
                "say how often it refreshes"
            )
        if allowance.lifetime is not None and allowance.lifetime < allowance.total:
            raise InvalidParameter(
                f"lifetime must not be below total, got {shown(lifetime)}; raise it, or lower the total"
            )
        if allowance.refresh is not None and delta is not None:
            raise InvalidParameter(
                "a budget that refreshes cannot have a delta, got both refresh and delta; leave one of them out"
            )
        return allowance

    @property
    def in_a_year(self) -> Fraction | None:
        """How much a year may take, in epsilon; None if nothing comes back."""
        if self.refresh is None:
            return None
        most = self.total * self.refresh.in_a_year
        return fraction(most if self.lifetime is None else min(most, self.lifetime))

    @property
    def adding_up(self) -> str | None:
        """What a budget that refreshes means for the people in the data, in words; None if it does not."""
        if self.refresh is None or self.in_a_year is None:
            return None
        each, year = format_amount(self.total), format_amount(units(self.in_a_year))
        begun = (
            f"ε = {each} each {self.refresh.period} is up to {year} a year about the same people: privacy loss adds up"
        )
        if self.lifetime is None:
            return f"{begun}, and without a lifetime it has no end"
        return f"{begun}, to at most {format_amount(self.lifetime)} in all"

    def __str__(self) -> str:
        per_analyst = (
            "no cap per analyst" if self.per_analyst is None else f"{format_amount(self.per_analyst)} per analyst"
        )
        text = f"a total of {format_amount(self.total)} and {per_analyst}"
        if self.refresh is None:
            return text
        lifetime = "no lifetime" if self.lifetime is None else f"a lifetime of {format_amount(self.lifetime)}"
        return f"{text} each {self.refresh.period}, with {lifetime}"


@dataclass(frozen=True)
class RefreshRecord:
    """What an entry of kind `refresh` says: an allowance from then on, or that another period of it has begun.

    The entry's `amount` and `per_analyst` are those of the allowance.
    """

    allowance: Allowance
    begins: date
    """The first day of the period; after the last one, if nothing refreshes any more, the day from which on."""
    reason: str
    """Why the allowance was changed; empty for a period that begins, and for a dataset that is new."""

    @property
    def period(self) -> Period | None:
        """The period, if there are any."""
        return None if self.allowance.refresh is None else Period(self.allowance.refresh, self.begins)

    def at(self, today: date) -> RefreshRecord:
        """Return what holds on a day: of two periods the later one, for a clock that goes back gives nothing back."""
        refresh = self.allowance.refresh
        first = self.begins if refresh is None else refresh.first_day(today)
        return self if first <= self.begins else RefreshRecord(self.allowance, first, "")

    def changed(self, allowance: Allowance, today: date, reason: str) -> RefreshRecord:
        """Return what holds from a day on with another allowance."""
        return RefreshRecord.begin(allowance, max(today, self.begins), reason)

    @classmethod
    def begin(cls, allowance: Allowance, today: date, reason: str) -> RefreshRecord:
        """Return what holds from a day on."""
        return cls(allowance, today if allowance.refresh is None else allowance.refresh.first_day(today), reason)

    def dump(self) -> str:
        """Write what the other fields of an entry have no place for."""
        refresh, lifetime = self.allowance.refresh, self.allowance.lifetime
        facts = {
            "refresh": None if refresh is None else refresh.word,
            "begins": self.begins.isoformat(),
            "lifetime": None if lifetime is None else format_amount(lifetime),
            "reason": self.reason,
        }
        return json.dumps(facts, ensure_ascii=False, sort_keys=True)

    @classmethod
    def in_entry(cls, entry: Entry) -> RefreshRecord | None:
        """Read what an entry says; None if it is something else, as in a ledger that was altered."""
        try:
            facts = json.loads(entry.text)
            total, own = fraction(entry.amount), entry.per_analyst
            per_analyst = None if own is None else fraction(own)
            allowance = Allowance.of(total, per_analyst, facts["refresh"], facts["lifetime"])
            found = cls(allowance, date.fromisoformat(facts["begins"]), str(facts["reason"]))
        except (ValueError, TypeError, KeyError):  # InvalidParameter is a ValueError
            return None
        return found if 0 < entry.amount <= LIMIT else None
