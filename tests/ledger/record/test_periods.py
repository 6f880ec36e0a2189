"""A budget that refreshes: each month has its own, all months together are on record, and no clock gives any back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds.errors import BudgetExceeded, InvalidParameter, LedgerConflict
from inbounds.exact.amount import UNIT
from inbounds.ledger import Ledger
from inbounds.ledger.record import clock
from inbounds.ledger.stores.schema import VERSION
from inbounds.ledger.values.refresh import Allowance, Period, Refresh, RefreshRecord
from tests.helpers import ledger_places
from tests.helpers.ledger_places import Place
from tests.helpers.ledger_versions import take_back, version_of
from tests.helpers.sparing import sparing

place = ledger_places.place

SetClock = Callable[[str], None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    """Return what sets the clock of this process."""

    def set_clock(moment: str) -> None:
        monkeypatch.setattr(clock, "now", lambda: datetime.fromisoformat(moment).replace(tzinfo=UTC))

    set_clock("2026-03-10T12:00")
    return set_clock


@pytest.fixture
def ledger(place: Place, at: SetClock) -> Iterator[Ledger]:
    """A ledger with a budget of 2 each month, 1 for each analyst, and 5 in all, since March 2026."""
    with Ledger.open(place.where) as opened:
        opened.open_dataset("clinic", 2, 1, refresh="monthly", lifetime=5)
        yield opened


def spent(ledger: Ledger, analyst: str | None = None) -> Fraction:
    """Return what was spent in this period."""
    return ledger.balance("clinic", analyst).spent


def test_each_month_has_the_whole_amount(ledger: Ledger, at: SetClock) -> None:
    """What was spent in a month is not spent in the next one, of the dataset and of each analyst; the sum stays."""
    ledger.charge("clinic", "ada", 1)
    ledger.charge("clinic", "bob", 1)
    with pytest.raises(BudgetExceeded, match="the dataset has 0 left and 'eve' has 1 left until 2026-04-01; ask for"):
        ledger.charge("clinic", "eve", "0.1")
    at("2026-03-31T23:59:59.999999")
    assert ledger.balance("clinic").left == 0
    assert not ledger.fits("clinic", "0.1")
    at("2026-04-01T00:00")
    assert str(ledger.balance("clinic")) == (
        "0 of 2 spent in 2026-04, 2 left until 2026-05-01; over all periods 2 of 5 spent"
    )
    assert ledger.balance("clinic", "ada").left == 1
    repeats = ledger.repeats("clinic", "bob")
    assert repeats is not None
    assert repeats.count == 1
    assert ledger.fits("clinic", 1, "ada")
    ledger.charge("clinic", "ada", 1)
    assert [spent(ledger), spent(ledger, "ada"), spent(ledger, "bob")] == [1, 1, 0]
    assert ledger.verify().ok


def test_a_lifetime_never_refreshes(ledger: Ledger, at: SetClock) -> None:
    """Whatever a month has left, no more than the lifetime is ever spent; the refusal says which of them it was."""
    for month in ("03", "04"):
        at(f"2026-{month}-01T00:00")
        ledger.charge("clinic", "ada", 1)
        ledger.charge("clinic", "bob", 1)
    at("2026-05-20T00:00")
    balance = ledger.balance("clinic")
    assert [balance.cap, balance.spent, balance.left] == [2, 0, 1]
    assert balance.lifetime is not None
    assert balance.lifetime.left == 1
    ledger.charge("clinic", "ada", 1)
    assert ledger.repeats("clinic").count == 0  # type: ignore[union-attr]
    refusal = r"has 0 left of its lifetime budget, which never refreshes; ask for less, or ask the custodian to grant"
    with pytest.raises(BudgetExceeded, match=refusal) as refused:
        ledger.charge("clinic", "bob", "0.1")
    assert refused.value.left_total == 0
    ledger.grant("clinic", "0.5", lifetime=True, note="one more study")
    ledger.charge("clinic", "bob", "0.5")
    assert not ledger.fits("clinic", "0.1")
    assert ledger.verify().ok


def test_a_grant_is_for_its_period(ledger: Ledger, at: SetClock) -> None:
    """The next period has the amounts of the budget again, whatever was granted or taken back before."""
    ledger.grant("clinic", 1)
    ledger.grant("clinic", "0.5", "ada")
    ledger.charge("clinic", "ada", "1.5")
    assert ledger.balance("clinic").cap == 3
    at("2026-04-02T00:00")
    assert [ledger.balance("clinic", who).cap for who in (None, "ada")] == [2, 1]
    ledger.grant("clinic", -1)  # the first that is written in April
    assert ledger.balance("clinic").left == 1
    with pytest.raises(LedgerConflict, match="a cap must stay between"):
        ledger.grant("clinic", "-1.5")
    at("2026-05-02T00:00")
    assert ledger.balance("clinic").left == 2
    ledger.charge("clinic", "ada", 1)
    assert ledger.verify().ok


@pytest.mark.parametrize("back", ["2026-04-30T23:59:59", "2026-03-10T00:00", "1999-01-01T00:00"])
def test_a_clock_that_is_set_back_gives_nothing_back(ledger: Ledger, at: SetClock, back: str) -> None:
    """Charges count in the period that has begun, until a later one begins by some clock."""
    at("2026-05-01T00:00")
    ledger.charge("clinic", "ada", 1)
    at(back)
    assert ledger.balance("clinic").left == 1
    assert str(ledger.balance("clinic").period) == "2026-05"
    ledger.charge("clinic", "bob", 1)
    with pytest.raises(BudgetExceeded):
        ledger.charge("clinic", "eve", "0.1")
    at("2026-05-31T00:00")
    with pytest.raises(BudgetExceeded):
        ledger.charge("clinic", "eve", "0.1")
    at("2026-06-01T00:00")
    ledger.charge("clinic", "eve", "0.1")
    assert ledger.verify().ok


def test_a_clock_that_ran_ahead_gives_its_period_once(ledger: Ledger, at: SetClock) -> None:
    """Once it is right again, all months up to the one that it ran to share what is left of that one."""
    at("2026-09-01T00:00")
    ledger.charge("clinic", "ada", 1)
    for month in ("03", "06", "09"):
        at(f"2026-{month}-20T00:00")
        assert ledger.balance("clinic").left == 1
    assert ledger.verify().ok


@pytest.mark.parametrize(
    ("word", "moments", "names"),
    [
        ("monthly", ["2027-12-31T23:59", "2028-01-01T00:00", "2028-02-29T12:00"], ["2027-12", "2028-01", "2028-02"]),
        ("quarterly", ["2027-12-31T23:59", "2028-01-01T00:00", "2028-04-01T00:00"], ["2027-Q4", "2028-Q1", "2028-Q2"]),
        ("yearly", ["2027-12-31T23:59", "2028-02-29T00:00", "2029-01-01T00:00"], ["2027", "2028", "2029"]),
    ],
)
def test_periods_are_those_of_the_calendar(
    tmp_path: Path, at: SetClock, word: str, moments: list[str], names: list[str]
) -> None:
    """Months, quarters and years begin at midnight, in UTC, with the lengths that they have."""
    at(moments[0])
    with Ledger.open(tmp_path / "b.db") as ledger:
        ledger.open_dataset("clinic", 1, refresh=word)
        for moment, name in zip(moments, names, strict=True):
            at(moment)
            assert str(ledger.balance("clinic").period) == name
            ledger.charge("clinic", "ada", 1)
        assert ledger.verify().ok
        assert ledger.statement("clinic").spent_in == {("clinic", name): 1 for name in names}


def test_a_period_begins_for_everybody_at_once(tmp_path: Path, at: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The zone of a machine, and its summer time, change nothing: two of them agree on every hour around a turn."""
    with Ledger.open(tmp_path / "b.db") as ledger:
        at("2026-03-28T00:00")
        ledger.open_dataset("clinic", 1, refresh="monthly")
        for zone in ("Pacific/Auckland", "America/Los_Angeles", "Europe/Zurich"):
            monkeypatch.setenv("TZ", zone)
            for hour in range(96):
                moment = datetime(2026, 3, 29, tzinfo=UTC) + timedelta(hours=hour)
                monkeypatch.setattr(clock, "now", lambda moment=moment: moment)
                assert str(ledger.balance("clinic").period) == f"{moment:%Y-%m}"


def test_the_clock_of_entries_is_that_of_periods() -> None:
    """It is in UTC, and the one that everything in a ledger is told by."""
    assert clock.now().tzinfo is UTC
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(days=1)


@pytest.mark.parametrize("refresh", Refresh)
def test_every_day_is_in_one_period(refresh: Refresh) -> None:
    """Over four hundred years, each day is between the first day of its period and that of the next one."""
    day, seen = date(1999, 1, 1), 0
    while day < date(2400, 1, 1):
        period = Period(refresh, refresh.first_day(day))
        assert period.begins <= day < period.until
        assert refresh.first_day(period.until) == period.until
        assert refresh.first_day(period.until - timedelta(days=1)) == period.begins
        day, seen = day + timedelta(days=13), seen + 1
    assert seen > 10_000


# Changing it.


def test_turning_it_on_gives_nothing_in_the_first_period(place: Place, at: SetClock) -> None:
    """All that was ever spent counts in the period in which it is turned on, of each account; grants are gone."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 3, 2)
        ledger.grant("clinic", 4)
        ledger.charge("clinic", "ada", "1.5")
        at("2026-03-20T00:00")
        with pytest.raises(LedgerConflict, match=r"is on record as a total of 3 .*\(inbounds budget contract\)"):
            ledger.open_dataset("clinic", 2, 1, refresh="monthly")
        ledger.change_allowance("clinic", 2, 1, refresh="monthly", reason="a dashboard")
        ledger.open_dataset("clinic", 2, 1, refresh="monthly")
        assert str(ledger.balance("clinic")).startswith("1.5 of 2 spent in 2026-03, 0.5 left until 2026-04-01")
        assert ledger.balance("clinic", "ada").left == 0, "the cap is what was spent: 1.5, above 1"
        at("2026-04-01T00:00")
        assert [ledger.balance("clinic", who).left for who in (None, "ada")] == [2, 1]
        ledger.charge("clinic", "ada", 1)
        assert ledger.verify().ok


def test_turning_it_off_counts_everything(ledger: Ledger, at: SetClock) -> None:
    """Then the total is one of all time again: what all periods spent is spent, and more needs a grant."""
    for month in ("03", "04", "05"):
        at(f"2026-{month}-01T00:00")
        ledger.charge("clinic", "ada", 1)
    ledger.change_allowance("clinic", 2, 1, reason="the survey is over")
    balance = ledger.balance("clinic")
    assert [balance.spent, balance.left, balance.period] == [3, 0, None]
    at("2027-01-01T00:00")
    with pytest.raises(BudgetExceeded):
        ledger.charge("clinic", "bob", "0.1")
    ledger.grant("clinic", 1)
    ledger.charge("clinic", "bob", 1)
    assert ledger.verify().ok


def test_turning_it_off_and_on_again_gives_nothing(ledger: Ledger, at: SetClock) -> None:
    """Neither in the same period nor, by a clock that was set back, in an earlier one."""
    at("2026-06-01T00:00")
    ledger.charge("clinic", "ada", 1)
    ledger.charge("clinic", "bob", 1)
    at("2026-05-01T00:00")
    ledger.change_allowance("clinic", 2, 1, reason="off")
    ledger.change_allowance("clinic", 2, 1, refresh="monthly", lifetime=9, reason="on")
    for moment in ("2026-05-02T00:00", "2026-06-30T00:00"):
        at(moment)
        assert str(ledger.balance("clinic").period) == "2026-06"
        with pytest.raises(BudgetExceeded):
            ledger.charge("clinic", "eve", "0.1")
    at("2026-07-01T00:00")
    ledger.charge("clinic", "eve", 1)
    assert ledger.verify().ok


def test_longer_periods_count_what_shorter_ones_spent(ledger: Ledger, at: SetClock) -> None:
    """From months to years: the year has no more left than was not spent in its months."""
    for month in ("03", "04"):
        at(f"2026-{month}-01T00:00")
        ledger.charge("clinic", "ada", 1)
    ledger.change_allowance("clinic", 3, refresh="yearly", reason="fewer questions")
    balance = ledger.balance("clinic")
    assert [balance.spent, balance.left, str(balance.period)] == [2, 1, "2026"]
    assert ledger.balance("clinic", "ada").cap is None
    at("2027-01-01T00:00")
    assert ledger.balance("clinic").left == 3
    assert ledger.verify().ok


def test_a_change_is_on_record_with_its_reason(ledger: Ledger, at: SetClock) -> None:
    """It needs one, the same again is no change, and the statement shows it and what each period spent."""
    ledger.charge("clinic", "ada", 1)
    with pytest.raises(InvalidParameter, match="a change of a budget needs a reason"):
        ledger.change_allowance("clinic", 3, refresh="monthly", reason=" ")
    before = ledger.head()
    ledger.change_allowance("clinic", 2, 1, refresh="monthly", lifetime=5, reason="the same")
    assert ledger.head() == before
    at("2026-04-01T00:00")
    ledger.charge("clinic", "ada", "0.5")
    ledger.change_allowance("clinic", 3, 1, refresh="monthly", lifetime=9, reason="more people ask")
    told = " ".join(str(ledger.statement("clinic")).split())
    assert "from entry 6 on (changed: more people ask), 2026-04 begins: a total of 3 and 1 per analyst each" in told
    assert "with a lifetime of 9" in told
    assert "2 charges, 1.5 spent in total, over 2 periods, whose privacy loss adds up" in told
    assert ledger.statement("clinic").spent_in == {("clinic", "2026-03"): 1, ("clinic", "2026-04"): Fraction(1, 2)}


def test_what_cannot_go_together_is_refused(ledger: Ledger, place: Place) -> None:
    """A delta, a lifetime without periods or below what was spent, and periods that nobody knows."""
    with pytest.raises(InvalidParameter, match="a budget that refreshes cannot have a delta"):
        ledger.open_dataset("other", 3, delta="1e-6", refresh="monthly")
    with pytest.raises(InvalidParameter, match="lifetime is for a budget that refreshes"):
        ledger.open_dataset("other", 3, lifetime=4)
    with pytest.raises(InvalidParameter, match="lifetime must not be below total"):
        ledger.open_dataset("other", 3, refresh="yearly", lifetime=2)
    with pytest.raises(InvalidParameter, match="refresh must be one of 'monthly', 'quarterly', 'yearly', got 'weekly'"):
        ledger.open_dataset("other", 3, refresh="weekly")
    with pytest.raises(LedgerConflict, match="refreshes, or did, and cannot get a delta"):
        ledger.add_delta("clinic", "1e-6", "more questions")
    ledger.open_dataset("small", 3, delta="1e-6")
    with pytest.raises(LedgerConflict, match="has a delta, and one that refreshes cannot have one"):
        ledger.change_allowance("small", 3, refresh="monthly", reason="why not")
    ledger.charge("clinic", "ada", 1)
    ledger.charge("clinic", "bob", 1)
    with pytest.raises(LedgerConflict, match="a lifetime must not be below what was spent of 'clinic', 2, got 1"):
        ledger.change_allowance("clinic", "0.5", refresh="monthly", lifetime=1, reason="less")
    with pytest.raises(LedgerConflict, match="has no lifetime budget to grant more of"):
        ledger.grant("small", 1, lifetime=True)
    with pytest.raises(InvalidParameter, match="a lifetime is that of a dataset"):
        ledger.grant("clinic", 1, "ada", lifetime=True)
    with pytest.raises(LedgerConflict, match="was opened with"):
        ledger.open_dataset("small", 4, delta="1e-6")
    assert ledger.verify().ok


def test_a_delta_for_single_charges_is_no_part_of_a_period(ledger: Ledger, at: SetClock) -> None:
    """What is granted for charges with a delta of their own is granted once, and spent once, over all periods."""
    ledger.grant("clinic", 0, delta="1e-7")
    ledger.charge("clinic", "ada", "0.1", delta="6e-8")
    at("2026-04-01T00:00")
    with pytest.raises(BudgetExceeded, match="the delta left for such charges is 4e-8"):
        ledger.charge("clinic", "ada", "0.1", delta="6e-8")
    ledger.charge("clinic", "ada", "0.1", delta="4e-8")
    assert ledger.verify().ok


# Ledgers of earlier releases, and ledgers that were altered.


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_a_ledger_of_an_earlier_release_stays_what_it_was(place: Place, at: SetClock, version: int) -> None:
    """It is used as it is, digests and all, until the first budget refreshes; then it has a place for that."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 2)
        ledger.charge("clinic", "ada", 1)
    if version < 3:
        take_back(place, version)
    else:
        place.raw("DROP INDEX ledger_refreshes")
        place.raw("UPDATE ledger_head SET version = ?", (version,))
    with Ledger.open(place.where) as ledger:
        before = ledger.head()
        ledger.open_dataset("clinic", 2)
        ledger.charge("clinic", "ada", "0.5")
        assert version_of(place) == version
        ledger.change_allowance("clinic", 2, refresh="monthly", reason="a dashboard")
        assert version_of(place) == VERSION
        assert ledger.goes_through(before)
        at("2026-04-01T00:00")
        ledger.charge("clinic", "ada", 2)
        assert ledger.verify(before).ok
    index = "SELECT 1 FROM {} WHERE {} = 'ledger_refreshes'"
    where = ("sqlite_master", "name") if place.kind == "sqlite" else ("pg_class", "relname")
    assert place.raw(index.format(*where))


def test_a_budget_that_does_not_refresh_writes_nothing_new(place: Place, at: SetClock) -> None:
    """No entry, no account and no digest is another than before there were periods."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 2, 1)
        ledger.charge("clinic", "ada", 1)
        ledger.grant("clinic", 1)
        at("2026-05-01T00:00")
        ledger.charge("clinic", "bob", 1)
        assert [entry.kind for entry in ledger.statement()] == ["open", "charge", "grant", "charge"]
        with ledger._store.reading():
            assert set(ledger._book.accounts_of("clinic")) == {"", "ada", "bob"}
        assert ledger.balance("clinic").data().keys() == {"cap", "spent", "left"}


def add(ledger: Ledger, record: RefreshRecord | None, **fields: Any) -> None:
    """Append a refresh as a ledger without rules would."""
    facts: dict[str, Any] = {}
    if record is not None:
        allowance = record.allowance
        facts = {"amount": allowance.total, "per_analyst": allowance.per_analyst, "text": record.dump()}
    with ledger._store.writing():
        ledger._book.append(ledger._book.lock(), "refresh", "clinic", **{**facts, **fields})


ALLOWANCE = Allowance(2 * UNIT, UNIT, Refresh.MONTHLY, 5 * UNIT)


@pytest.mark.parametrize(
    ("record", "fields", "problem"),
    [
        (RefreshRecord(ALLOWANCE, date(2026, 3, 1), ""), {}, "begins a period that has not begun by its time, or had"),
        (RefreshRecord(ALLOWANCE, date(2026, 4, 1), ""), {}, "begins a period that has not begun by its time"),
        (RefreshRecord(ALLOWANCE, date(2026, 2, 1), ""), {}, "begins a period that has not begun by its time"),
        (RefreshRecord(replace(ALLOWANCE, total=3 * UNIT), date(2026, 3, 1), ""), {}, "changes a budget without a"),
        (RefreshRecord(replace(ALLOWANCE, total=3 * UNIT), date(2026, 4, 1), "x"), {}, "changes a budget from another"),
        (
            RefreshRecord(replace(ALLOWANCE, refresh=None, lifetime=None), date(2026, 2, 1), "x"),
            {},
            "changes a budget from another day",
        ),
        (
            RefreshRecord(Allowance(UNIT // 2, None, Refresh.MONTHLY, UNIT // 2), date(2026, 3, 1), "x"),
            {},
            "gives a budget a lifetime that is spent already",
        ),
        (None, {"amount": UNIT, "text": "{}"}, "records a budget that cannot be read"),
        (RefreshRecord(ALLOWANCE, date(2026, 3, 1), ""), {"analyst": "ada"}, "records a budget that cannot be read"),
        (RefreshRecord(ALLOWANCE, date(2026, 3, 1), ""), {"dataset": "other"}, "lets a budget refresh that was not"),
    ],
)
def test_a_refresh_that_no_ledger_would_write_is_found(
    ledger: Ledger, place: Place, record: RefreshRecord | None, fields: dict[str, Any], problem: str
) -> None:
    """A period too early or once more, a change without a reason, and what is no refresh at all."""
    ledger.charge("clinic", "ada", 1)
    place.unlock()
    if "dataset" in fields:
        facts = {"amount": ALLOWANCE.total, "per_analyst": UNIT, "text": record.dump() if record else ""}
        with ledger._store.writing():
            ledger._book.append(ledger._book.lock(), "refresh", fields["dataset"], **facts)
    else:
        add(ledger, record, **fields)
    assert any(f"entry 4 {problem}" in told for told in ledger.verify().problems), ledger.verify().problems


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger_accounts SET spent = 0 WHERE analyst = ''",
        "UPDATE ledger_accounts SET spent = spent - 1 WHERE analyst = ' '",
        "UPDATE ledger_accounts SET cap = cap + 1 WHERE analyst = ' '",
        "DELETE FROM ledger_accounts WHERE analyst = ' '",
        "UPDATE ledger_accounts SET spent = 0 WHERE analyst = 'ada'",
    ],
)
def test_accounts_that_were_emptied_by_hand_are_found(ledger: Ledger, place: Place, at: SetClock, change: str) -> None:
    """What is spent in a period, and over all of them, is what the entries say."""
    ledger.charge("clinic", "ada", 1)
    at("2026-04-01T00:00")
    ledger.charge("clinic", "ada", 1)
    assert ledger.verify().ok
    place.raw(change)
    assert not ledger.verify().ok


class Plain:
    """The same budget without a ledger: a period that only grows, what it has spent, and a sum over all of them."""

    def __init__(self, today: date) -> None:
        self.total, self.own, self.lifetime = Fraction(2), Fraction(1), Fraction(5)
        self.begins = today.replace(day=1)
        self.spent: dict[str, Fraction] = {}
        self.caps: dict[str, Fraction] = {}
        self.ever = Fraction(0)

    def at(self, today: date) -> Plain:
        """Return what there is on a day: in a later month, nothing is spent yet."""
        if today.replace(day=1) <= self.begins:
            return self
        later = Plain(today)
        later.ever = self.ever
        return later

    def cap(self, who: str) -> Fraction:
        """Return a cap of this month."""
        return self.caps.get(who, self.total if who == "" else self.own)

    def fits(self, who: str, amount: Fraction) -> bool:
        """Return whether a charge fits."""
        accounts = ("", who)
        within = all(self.spent.get(one, Fraction(0)) + amount <= self.cap(one) for one in accounts)
        return within and self.ever + amount <= self.lifetime

    def charge(self, who: str, amount: Fraction) -> None:
        """Take it."""
        for one in ("", who):
            self.spent[one] = self.spent.get(one, Fraction(0)) + amount
        self.ever += amount


@pytest.mark.parametrize("seed", sparing(range(40), 5))
def test_it_counts_as_plain_sums_do(tmp_path: Path, at: SetClock, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Random charges and grants under a clock that jumps both ways: the ledger agrees with sums kept beside it."""
    random, today = Random(seed), datetime(2026, 3, 10, tzinfo=UTC)
    plain = Plain(today.date())
    with Ledger.open(tmp_path / "b.db") as ledger:
        ledger.open_dataset("clinic", 2, 1, refresh="monthly", lifetime=5)
        for _ in range(120):
            today += timedelta(days=random.choice([0, 0, 1, 3, 20, 40, -2, -35]))
            monkeypatch.setattr(clock, "now", lambda today=today: today)
            who, amount = random.choice(["ada", "bob", "eve"]), Fraction(random.choice([1, 2, 5, 9]), 10)
            if random.random() < 0.1:
                plain = plain.at(today.date())
                granted = random.choice(["", who])
                plain.caps[granted] = plain.cap(granted) + amount
                ledger.grant("clinic", amount, granted or None)
                continue
            fits, view = ledger.fits("clinic", amount, who), plain.at(today.date())
            assert view.fits(who, amount) is fits
            if fits:
                ledger.charge("clinic", who, amount)
                plain = view  # a period begins with what is written in it
                plain.charge(who, amount)
            else:
                with pytest.raises(BudgetExceeded):
                    ledger.charge("clinic", who, amount)
            assert [spent(ledger), spent(ledger, who)] == [view.spent.get(one, Fraction(0)) for one in ("", who)]
        assert plain.ever <= 5
        assert ledger.verify().ok


def test_a_backup_keeps_the_period(ledger: Ledger, at: SetClock, tmp_path: Path) -> None:
    """A copy has the same period, sums and lifetime."""
    if ledger.path is None:
        pytest.skip("a ledger in PostgreSQL is not copied")
    at("2026-04-01T00:00")
    ledger.charge("clinic", "ada", 1)
    ledger.backup(tmp_path / "copy.db")
    with Ledger.open(tmp_path / "copy.db") as copy:
        assert copy.balance("clinic") == ledger.balance("clinic")


@pytest.mark.parametrize(
    ("refresh", "lifetime", "words"),
    [
        (None, None, None),
        (
            "monthly",
            None,
            "ε = 2 each month is up to 24 a year about the same people: privacy loss adds up, and without",
        ),
        (
            "quarterly",
            5,
            "ε = 2 each quarter is up to 5 a year about the same people: privacy loss adds up, to at most 5",
        ),
        ("yearly", 20, "ε = 2 each year is up to 2 a year about the same people: privacy loss adds up, to at most 20"),
    ],
)
def test_what_it_means_for_people_is_said(refresh: str | None, lifetime: int | None, words: str | None) -> None:
    """A year of periods adds up, to the lifetime at most."""
    said = Allowance.of(2, None, refresh, lifetime).adding_up
    assert said is None if words is None else (said or "").startswith(words)
