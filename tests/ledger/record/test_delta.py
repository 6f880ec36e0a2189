"""A budget with a delta: a charge fits if the sum of epsilon does, or that of rho; without one nothing is different."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inbounds.errors import BudgetExceeded, InvalidParameter, LedgerBroken, LedgerConflict
from inbounds.exact.amount import DELTA_UNIT, UNIT, format_delta
from inbounds.ledger import Ledger
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost, pure_rho
from inbounds.privacy.rho import bounded_range, greatest_rho, pure
from tests.helpers import ledger_places, ledger_versions
from tests.helpers.ledger_places import Place

place = ledger_places.place

DELTA = "0.000001"


@pytest.fixture
def ledger(place: Place) -> Any:
    """Yield a ledger with a dataset whose budget is (3, 1e-6)."""
    with Ledger.open(place.where) as opened:
        opened.open_dataset("clinic", 3, delta=DELTA)
        yield opened


def charges(ledger: Ledger, amount: str, rho: Fraction | None = None) -> int:
    """Return how many charges fit, from the accounts alone, after two that were made."""
    for _ in range(2):
        ledger.charge("clinic", "ada", amount, rho=rho)
    repeats = ledger.repeats("clinic")
    assert repeats is not None
    return repeats.count + 2


@pytest.mark.parametrize(
    ("epsilon", "in_sum", "by_rho"), [("0.01", 300, 3701), ("0.05", 60, 148), ("0.1", 30, 37), ("0.2", 15, 15)]
)
def test_so_many_questions_fit_the_budget(ledger: Ledger, epsilon: str, in_sum: int, by_rho: int) -> None:
    """At (3, 1e-6): as many as published for any release, and never fewer than without a delta."""
    ledger.open_dataset("sum", 3)
    ledger.charge("sum", "ada", epsilon)
    alone = ledger.repeats("sum")
    assert alone is not None
    assert alone.count + 1 == in_sum
    assert charges(ledger, epsilon) == by_rho


def test_quantiles_count_a_quarter(ledger: Ledger) -> None:
    """What has a bounded range counts epsilon squared over eight: 14,805 at 0.01."""
    assert charges(ledger, "0.01", bounded_range(Fraction(1, 100))) == 14805


def test_no_more_than_that_are_charged(ledger: Ledger) -> None:
    """What `repeats` says is what fits: all of these, and not one more, of the dataset or of an analyst."""
    for done in range(37):
        if done == 20:
            assert ledger.repeats("clinic", "ada").count == 17  # type: ignore[union-attr]
        ledger.charge("clinic", "ada", "0.1")
    asked = r"cannot spend 0.1 \(rho 0.004995837496\) on 'clinic': the dataset has 0 "
    with pytest.raises(BudgetExceeded, match=asked):
        ledger.charge("clinic", "ada", "0.1")
    balance = ledger.balance("clinic")
    assert (balance.spent, balance.left) == (Fraction("3.7"), Fraction(0))
    assert balance.rho_spent == 37 * Fraction(pure_rho(UNIT // 10), UNIT)
    assert balance.rho_cap is not None
    assert balance.rho_spent <= balance.rho_cap <= greatest_rho(Fraction(3), Fraction(DELTA))
    assert ledger.verify().ok
    smaller = ledger.charge("clinic", "bob", "0.01")  # what is left of rho is for whoever asks for less
    assert smaller.rho == Fraction(pure_rho(UNIT // 100), UNIT)


def test_what_is_said_to_fit_is_charged_and_nothing_else(place: Place) -> None:
    """With and without a delta, for the total and for an analyst, at random until both have nothing left."""
    dice = Random(3)
    told = set()
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("sum", 3, per_analyst=2)
        ledger.open_dataset("clinic", 3, per_analyst=2, delta=DELTA)
        for _ in range(200):
            dataset, analyst = dice.choice(["sum", "clinic"]), dice.choice(["ada", "bob"])
            amount = dice.choice(["0.1", "0.25", "0.7"])
            rho = dice.choice([None, bounded_range(Fraction(amount))])
            fits = ledger.fits(dataset, amount, analyst, rho=rho)
            with nullcontext() if fits else pytest.raises(BudgetExceeded):
                ledger.charge(dataset, analyst, amount, rho=rho)
            told.add((dataset, fits))
        assert not ledger.fits("sum", 3)
    assert len(told) == 4


def test_either_sum_is_enough_and_neither_is_too_little(ledger: Ledger) -> None:
    """One question for the whole of epsilon fits, though its rho is beyond all; after it, nothing does."""
    receipt = ledger.charge("clinic", "ada", 3)
    assert receipt.rho is not None
    assert receipt.rho > greatest_rho(Fraction(3), Fraction(DELTA))
    with pytest.raises(BudgetExceeded):
        ledger.charge("clinic", "ada", "0.000001")
    assert ledger.verify().ok


def test_rho_is_never_more_than_that_of_anything_that_loses_epsilon(ledger: Ledger) -> None:
    """Nor less than a unit, and always rounded up."""
    assert ledger.charge("clinic", "ada", "0.1", rho=Fraction(5)).rho == Fraction(pure_rho(UNIT // 10), UNIT)
    assert ledger.charge("clinic", "ada", "0.1", rho=Fraction(1, 3) ** 30).rho == Fraction(1, UNIT)
    assert Cost.of("0.000000000001").rho == 1
    assert Fraction(pure_rho(UNIT), UNIT) - pure(Fraction(1)) < Fraction(1, UNIT)
    with pytest.raises(InvalidParameter, match="rho must be above 0"):
        ledger.charge("clinic", "ada", "0.1", rho=Fraction(0))


def test_each_analyst_has_the_same_delta(place: Place) -> None:
    """What one analyst is told is (cap, delta) too: rho goes as far as that cap allows, and the dataset's is kept."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 3, per_analyst="0.5", delta=DELTA)
        own = greatest_rho(Fraction(1, 2), Fraction(DELTA))
        fit = int(own / pure(Fraction(1, 100)))
        assert fit > 50
        for _ in range(fit):
            ledger.charge("clinic", "ada", "0.01")
        with pytest.raises(
            BudgetExceeded, match=r"the dataset has 1.\d+ \(or rho 0.17\d+\) left and 'ada' has 0 \(or rho "
        ):
            ledger.charge("clinic", "ada", "0.01")
        assert ledger.repeats("clinic", "ada").count == 0  # type: ignore[union-attr]
        assert ledger.repeats("clinic").count > 1000  # type: ignore[union-attr]
        ledger.charge("clinic", "bob", "0.01")
        ledger.grant("clinic", "0.5", "ada")
        assert ledger.balance("clinic", "ada").rho_cap == Fraction(Caps.of(3, 1, DELTA, None).rho_cap(UNIT) or 0, UNIT)
        ledger.charge("clinic", "ada", "0.01")
        assert ledger.verify().ok


def test_rho_is_told_where_the_delta_is_not(ledger: Ledger) -> None:
    """A balance that a server tells has no delta; what it says of rho is the same."""
    ledger.charge("clinic", "ada", "0.1")
    balance = ledger.balance("clinic")
    untold = replace(balance, delta=None)
    assert {**untold.data(), "delta": balance.delta} == balance.data()
    assert str(untold) == str(balance).replace(", at a delta of 1e-6:", "")


def test_an_analyst_without_a_cap_is_bound_by_the_dataset(ledger: Ledger) -> None:
    """Its account counts, and ends nothing."""
    ledger.charge("clinic", "ada", "0.1")
    balance = ledger.balance("clinic", "ada")
    assert (balance.cap, balance.rho_cap) == (None, None)
    assert str(balance) == "0.1 spent, no cap of its own; in rho 0.004995837496 spent"
    assert ledger.repeats("clinic", "ada") == ledger.repeats("clinic")
    assert ledger.repeats("clinic", "bob") is None


def test_a_cap_is_changed_with_what_follows_from_it(ledger: Ledger) -> None:
    """A grant moves rho's cap along; no cap goes so low that both sums are over."""
    for _ in range(37):
        ledger.charge("clinic", "ada", "0.1")
    with pytest.raises(LedgerConflict, match="must stay between what is spent"):
        ledger.grant("clinic", "-0.1")
    ledger.grant("clinic", 1)
    assert ledger.balance("clinic").rho_cap == Fraction(int(greatest_rho(Fraction(4), Fraction(DELTA)) * UNIT), UNIT)
    ledger.charge("clinic", "ada", "0.1")
    ledger.grant("clinic", "-0.2")
    with pytest.raises(LedgerConflict):
        ledger.grant("clinic", "-4")
    assert ledger.verify().ok


def test_charges_with_a_delta_take_it_from_what_is_reserved(place: Place) -> None:
    """Together no more than the reserve; rho is converted with the rest of delta."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 3, delta="0.000001", delta_reserved="0.0000004")
        balance = ledger.balance("clinic")
        assert balance.delta == Fraction(6, 10**7)
        assert balance.rho_cap == Fraction(int(greatest_rho(Fraction(3), Fraction(6, 10**7)) * UNIT), UNIT)
        receipt = ledger.charge("clinic", "ada", "0.5", "keys", delta="3e-7")
        assert (receipt.delta, receipt.rho) == (Fraction(3, 10**7), Fraction(pure_rho(UNIT // 2), UNIT))
        assert not ledger.charge("clinic", "ada", "0.5", "keys", delta="3e-7").fresh
        with pytest.raises(LedgerConflict, match="charged for another question, epsilon"):
            ledger.charge("clinic", "ada", "0.5", "keys", delta="2e-7")
        with pytest.raises(
            BudgetExceeded, match=r"\(rho 0.\d+, delta 2e-7\) on 'clinic': the delta left for such charges is 1e-7"
        ):
            ledger.charge("clinic", "ada", "0.1", delta="2e-7")
        assert ledger.balance("clinic").spent == Fraction(1, 2)
        ledger.charge("clinic", "bob", "0.1", delta="1e-7")
        assert ledger.statement().spent_delta == Fraction(4, 10**7)
        ledger.grant("clinic", 0, delta="2e-7", note="more keys")
        assert ledger.repeats("clinic").count == 2  # type: ignore[union-attr]
        with pytest.raises(InvalidParameter, match="granted to a dataset"):
            ledger.grant("clinic", 0, "ada", delta="1e-7")
        assert ledger.verify().ok
        assert "of the delta reserved for charges, 4e-7 of 6e-7 spent" in str(ledger.balance("clinic"))


def test_all_of_delta_can_be_reserved(place: Place) -> None:
    """Then epsilon alone counts, as without a delta; without one, a charge that needs it is refused until a grant."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("keys", 1, delta=DELTA, delta_reserved=DELTA)
        ledger.open_dataset("pure", 1)
        assert ledger.charge("keys", "ada", "0.5", delta=DELTA).rho is None
        assert ledger.balance("keys").rho_cap is None
        with pytest.raises(BudgetExceeded, match="the delta left for such charges is 0; ask for less, or ask the cust"):
            ledger.charge("pure", "ada", "0.5", delta=DELTA)
        ledger.grant("pure", 0, delta=DELTA)
        ledger.charge("pure", "ada", "0.5", delta=DELTA)
        for name in ("keys", "pure"):
            ledger.charge(name, "ada", "0.5")
            with pytest.raises(BudgetExceeded):
                ledger.charge(name, "ada", "0.01")
        assert ledger.verify().ok


def test_another_delta_is_refused(ledger: Ledger) -> None:
    """Like another total: with, without, or reserved otherwise."""
    ledger.open_dataset("clinic", 3, delta="1e-6")
    different: tuple[dict[str, Any], ...] = ({}, {"delta": "1e-5"}, {"delta": DELTA, "delta_reserved": "1e-7"})
    for others in different:
        with pytest.raises(LedgerConflict, match="at a delta of 1e-6, got a total of 3"):
            ledger.open_dataset("clinic", 3, **others)


@pytest.mark.parametrize("delta", [0, 1, -1, "1e-19", "nan", 1.5, None])
def test_what_is_no_delta_is_refused(ledger: Ledger, delta: Any) -> None:
    """It is above 0, below 1, and has no more than 18 decimals; a part of it needs a whole."""
    with pytest.raises(InvalidParameter, match="delta"):
        ledger.open_dataset("other", 1, delta=delta, delta_reserved="1e-7")


def test_the_record_shows_and_covers_rho_and_delta(place: Place) -> None:
    """Statement and data have them, the digest covers them, and an entry without them has the digest it always had."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("pure", 1)
        ledger.open_dataset("clinic", 3, delta=DELTA, delta_reserved="1e-7")
        ledger.charge("clinic", "ada", "0.1", "r1", delta="1e-8")
        ledger.charge("pure", "ada", "0.1", "r2")
        opened, delta, charged, plain = ledger.statement().entries
        assert (delta.data()["delta"], delta.data()["reserved"]) == ("1e-6", "1e-7")
        assert (charged.data()["rho"], charged.data()["delta"]) == ("0.004995837496", "1e-8")
        for entry in (opened, plain):
            assert not {"rho", "delta", "reserved"} & entry.data().keys()
            first = {name: value for name, value in vars(entry).items() if name not in {"rho", "delta", "reserved"}}
            del first["digest"]
            text = json.dumps(first, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
            assert entry.digest == sha256(text.encode()).hexdigest()
        told = str(ledger.statement())
        assert "rho" in told
        assert "1e-8" in told
        assert "0.004995837496 in rho" in told
        assert "clinic: 1e-7 of its delta is reserved for charges that have one" in told
        assert "rho" not in str(ledger.statement("pure"))


ALTERED = [
    ("UPDATE ledger_entries SET rho = rho - 1 WHERE kind = 'charge'", "was altered"),
    ("UPDATE ledger_entries SET rho = NULL WHERE kind = 'charge'", "was altered"),
    ("UPDATE ledger_entries SET delta = delta + 1 WHERE kind = 'open'", "was altered"),
    ("UPDATE ledger_entries SET reserved = 5 WHERE kind = 'open'", "was altered"),
    ("UPDATE ledger_accounts SET spent_rho = spent_rho - 1", "account of 'ada' in 'clinic'"),
    ("UPDATE ledger_accounts SET rho_cap = rho_cap + 1 WHERE analyst = ''", "account of 'clinic' holds"),
    ("UPDATE ledger_accounts SET reserve = 5", "units of delta"),
]


@pytest.mark.parametrize(("change", "problem"), ALTERED)
def test_what_was_altered_of_rho_and_delta_is_found(ledger: Ledger, place: Place, change: str, problem: str) -> None:
    """In an entry or in an account."""
    ledger.charge("clinic", "ada", "0.1")
    place.unlock()
    assert ledger.verify().ok
    place.raw(change)
    assert problem in " ".join(ledger.verify().problems)


FORGED = [
    ({"rho": 1, "amount": 4 * UNIT}, None),
    ({"rho": None, "amount": UNIT}, "counts rho where it does not count, or does not where it does"),
    ({"rho": pure_rho(UNIT) + 1, "amount": UNIT}, "counts a rho that a release of its epsilon cannot have"),
    ({"rho": 0, "amount": UNIT}, "counts a rho that a release of its epsilon cannot have"),
    ({"rho": pure_rho(4 * UNIT), "amount": 4 * UNIT}, "takes 'clinic' over the cap: 4 of 3 spent, and 3.85"),
    ({"rho": 1, "amount": UNIT, "delta": 5}, "takes 'clinic' over the delta for charges: 5e-18 of 0 spent"),
    ({"rho": 1, "amount": UNIT, "delta": -5}, "charges a delta below 0"),
]


@pytest.mark.parametrize(("fields", "problem"), FORGED)
def test_a_charge_that_no_ledger_would_write_is_found(
    ledger: Ledger, fields: dict[str, Any], problem: str | None
) -> None:
    """Though it is chained well; the first is one that the rule allows."""
    with ledger._store.writing():
        ledger._book.append(ledger._book.lock(), "charge", "clinic", analyst="ada", request_id="r9", **fields)
    told = [one for one in ledger.verify().problems if one.startswith("entry")]
    assert told == [] if problem is None else told[0].startswith(f"entry 2 {problem}")


@pytest.mark.parametrize("version", [1, 2])
def test_a_ledger_of_an_earlier_release_is_upgraded_when_it_must(place: Place, version: int) -> None:
    """It is read, verified and charged as it is; a delta gives it the new tables, and every entry stays what it was."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("pure", 1, per_analyst="0.5")
        ledger.answered(ledger.charge("pure", "ada", "0.1", "r1"), "42")
    ledger_versions.take_back(place, version)
    with Ledger.open(place.where) as ledger, Ledger.open(place.where) as other:
        head = ledger.head()
        for _ in range(8):  # as often as a driver needs to prepare a statement
            assert other.verify(head).ok
            assert other.balance("pure", "ada").spent == Fraction(1, 10)
        ledger.charge("pure", "bob", "0.1", "r2", rho=Fraction(1, 100))
        ledger.grant("pure", "0.1", "bob")
        assert ledger_versions.version_of(place) == version
        before = list(ledger.statement())
        with pytest.raises(BudgetExceeded, match="the delta left for such charges is 0"):
            ledger.charge("pure", "bob", "0.1", delta=DELTA)
        ledger.open_dataset("clinic", 3, delta=DELTA)
        assert ledger_versions.version_of(place) == 5
        assert list(other.statement())[: len(before)] == before
        other.charge("clinic", "ada", "0.1")
        other.charge("pure", "ada", "0.1")
        assert other.statement().entries[-1].rho is None
        assert other.verify(head).ok
        assert ledger.verify(head).ok
        with pytest.raises(Exception, match="entries of a ledger are never changed"):
            place.raw("DELETE FROM ledger_entries")
        over = "UPDATE ledger_accounts SET spent = cap + 1 WHERE dataset = 'pure' AND analyst = ''"
        with pytest.raises(Failure, match="its records contradict each other"), ledger._store.writing():
            ledger._store.execute(over)


def test_a_grant_of_delta_upgrades_a_ledger_too(place: Place) -> None:
    """For what it grants has no place in the old tables."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("pure", 1)
    ledger_versions.take_back(place, 2)
    with Ledger.open(place.where) as ledger:
        ledger.grant("pure", 0, delta=DELTA)
        ledger.charge("pure", "ada", "0.1", delta=DELTA)
        assert ledger.verify().ok


def late(place: Place, **caps: Any) -> Ledger:
    """Return a ledger with a dataset that was charged and then got a delta."""
    ledger = Ledger.open(place.where)
    ledger.open_dataset("clinic", 3, **caps)
    ledger.open_dataset("other", 3, **caps)
    for number, who in enumerate(["ada", "ada", "bob"]):
        ledger.charge("clinic", who, "0.5", f"r{number}", rho=Fraction(1, 100))
    ledger.add_delta("clinic", DELTA, "many small questions")
    return ledger


def test_a_delta_that_comes_later_counts_what_was_charged_before(place: Place) -> None:
    """As whatever loses its epsilon, of the dataset and of each analyst; the same caps as if it had come first."""
    with late(place, per_analyst=2) as ledger:
        for who, times in ((None, 3), ("ada", 2), ("bob", 1), ("cyd", 0)):
            balance = ledger.balance("clinic", who)
            assert balance.rho_spent == Fraction(times * pure_rho(UNIT // 2), UNIT)
            ledger.open_dataset("first", 3, per_analyst=2, delta=DELTA)
            assert (balance.rho_cap, balance.delta) == (
                ledger.balance("first", who).rho_cap,
                ledger.balance("first", who).delta,
            )
        assert ledger.balance("other").rho_cap is None
        ledger.open_dataset("clinic", 3, per_analyst=2, delta=DELTA)  # as the contract says it now
        with pytest.raises(LedgerConflict, match="at a delta of 1e-6, got a total of 3"):
            ledger.open_dataset("clinic", 3, per_analyst=2)
        assert ledger.charge("clinic", "cyd", "0.1").rho == Fraction(pure_rho(UNIT // 10), UNIT)
        assert ledger.charge("other", "cyd", "0.1").rho is None
        ledger.grant("clinic", 1)
        assert ledger.verify().ok


def test_a_delta_that_comes_later_admits_what_the_filter_admits(place: Place) -> None:
    """As many charges fit as would have if those before had counted in rho from the beginning, and not one more."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 3, delta=DELTA)
        ledger.open_dataset("late", 3)
        for dataset in ("clinic", "late"):
            for _ in range(20):
                ledger.charge(dataset, "ada", "0.05")
        ledger.add_delta("late", DELTA, "many small questions")
        left = [ledger.repeats(dataset) for dataset in ("clinic", "late")]
        assert [one.count for one in left if one is not None] == [128, 128]
        for _ in range(128):
            ledger.charge("late", "ada", "0.05")
        with pytest.raises(BudgetExceeded):
            ledger.charge("late", "ada", "0.05")
        assert ledger.balance("late").spent > 3
        assert ledger.verify().ok


def test_a_delta_that_comes_later_is_on_the_record(place: Place) -> None:
    """With its reason, chained like any entry; what is altered of it is found, and no entry before it changes."""
    with late(place) as ledger:
        entry = ledger.statement("clinic").entries[-1]
        assert (entry.kind, entry.delta, entry.text) == ("delta", 10**12, "many small questions")
        assert "many small questions" in str(ledger.statement("clinic"))
        before = ledger.head()
        ledger.add_delta("clinic", DELTA, "again")  # the same again does nothing
        assert ledger.head() == before
        place.unlock()
        place.raw("UPDATE ledger_accounts SET spent_rho = spent_rho - 1 WHERE analyst = 'ada' AND dataset = 'clinic'")
        assert "account of 'ada' in 'clinic'" in " ".join(ledger.verify().problems)


@pytest.mark.parametrize(
    ("delta", "more", "said"),
    [
        ("1e-5", {}, "already has a delta"),
        ("1e-6", {"delta_reserved": "1e-7"}, "already has a delta"),
        ("1e-6", {"delta_reserved": "1e-6"}, "exceed its reserved part"),
        ("1e-6", {"delta_reserved": "1e-5"}, "must be part of delta"),
        (1, {}, "below 1"),
    ],
)
def test_a_second_delta_is_refused(place: Place, delta: Any, more: dict[str, Any], said: str) -> None:
    """Another one, or one that cannot be; nothing is written then."""
    with late(place) as ledger:
        head = ledger.head()
        with pytest.raises((LedgerConflict, InvalidParameter), match=said):
            ledger.add_delta("clinic", delta, "why not", **more)
        with pytest.raises(InvalidParameter, match="needs a reason"):
            ledger.add_delta("other", DELTA, " ")
        with pytest.raises(LedgerConflict, match="has no dataset"):
            ledger.add_delta("nowhere", DELTA, "why not")
        assert ledger.head() == head


def test_what_is_reserved_of_a_later_delta_adds_to_what_was_granted(place: Place) -> None:
    """Charges may have both, and rho is converted with the rest."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 3)
        ledger.grant("clinic", 0, delta="1e-8")
        ledger.charge("clinic", "ada", "0.1", delta="1e-8")
        ledger.add_delta("clinic", DELTA, "many small questions", delta_reserved="1e-7")
        balance = ledger.balance("clinic")
        assert (balance.delta_reserved, balance.delta) == (Fraction(11, 10**8), Fraction(9, 10**7))
        ledger.charge("clinic", "ada", "0.1", delta="1e-7")
        with pytest.raises(BudgetExceeded, match="the delta left for such charges is 0"):
            ledger.charge("clinic", "ada", "0.1", delta="1e-18")
        assert ledger.verify().ok


FORGED_DELTAS = [
    ({"text": "why", "delta": 10**12}, None),
    ({"text": " ", "delta": 10**12}, "adds a delta without a reason"),
    ({"text": "why", "delta": 10**12, "reserved": 10**12}, "adds an impossible delta"),
    ({"text": "why", "delta": 0}, "adds an impossible delta"),
    ({"text": "why", "delta": 10**12, "rho": 1}, "adds an impossible delta"),
    ({"text": "why", "delta": 10**12, "analyst": "ada"}, "adds a delta to a dataset that has one, or to an analyst"),
    ({"text": "why", "delta": 10**12, "dataset": "clinic"}, "adds a delta to a dataset that has one"),
    ({"text": "why", "delta": 10**12, "dataset": "nowhere"}, "adds a delta to a dataset that was not opened"),
]


@pytest.mark.parametrize(("fields", "problem"), FORGED_DELTAS)
def test_a_delta_that_no_ledger_would_write_is_found(place: Place, fields: dict[str, Any], problem: str | None) -> None:
    """Though it is chained well; the first is one that the rule allows, if the accounts agree with it."""
    with late(place) as ledger:
        with ledger._store.writing():
            ledger._book.append(ledger._book.lock(), "delta", **{"dataset": "other", **fields})
        told = [one for one in ledger.verify().problems if one.startswith("entry")]
        assert told == [] if problem is None else f" {problem}" in told[0]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_delta_that_comes_later_upgrades_a_ledger(place: Place, version: int) -> None:
    """A ledger of any earlier release can get one: its entries and their digests stay what they were."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 3)
        ledger.answered(ledger.charge("clinic", "ada", "0.5", "r1"), "42")
    if version < 3:
        ledger_versions.take_back(place, version)
    else:
        place.raw("UPDATE ledger_head SET version = 3")
    with Ledger.open(place.where) as ledger, Ledger.open(place.where) as other:
        head, before = ledger.head(), list(ledger.statement())
        other.charge("clinic", "bob", "0.1", "r2")
        assert ledger_versions.version_of(place) == version
        ledger.add_delta("clinic", DELTA, "many small questions")
        assert ledger_versions.version_of(place) == 5
        assert list(other.statement())[: len(before)] == before
        assert other.balance("clinic").rho_spent == Fraction(pure_rho(UNIT // 2) + pure_rho(UNIT // 10), UNIT)
        assert other.charge("clinic", "bob", "0.1").rho is not None
        assert other.verify(head).ok


def test_deltas_are_written_in_short() -> None:
    """With an exponent and no needless digit."""
    assert [format_delta(units) for units in (0, 1, 10**12, 25 * 10**10, DELTA_UNIT // 2)] == [
        "0",
        "1e-18",
        "1e-6",
        "2.5e-7",
        "5e-1",
    ]


def test_a_sum_beyond_64_bits_is_refused(place: Place) -> None:
    """Charges whose rho fits are refused before their epsilons add up to more than a ledger can hold."""
    tiny = Fraction(1, UNIT)
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 1, per_analyst=1, delta="0.5")
        for _ in range(9):
            ledger.charge("clinic", "ada", 10**6, rho=tiny)
        assert not ledger.fits("clinic", 10**6, "ada", rho=tiny)
        assert ledger.fits("clinic", "223372.036854775807", "ada", rho=tiny)
        with pytest.raises(
            BudgetExceeded, match=r"at most 9223372.036854775807 of epsilon.*at most 223372.036854775807"
        ):
            ledger.charge("clinic", "ada", 10**6, rho=tiny)
        ledger.charge("clinic", "ada", "223372.036854775807", rho=tiny)
        assert ledger.balance("clinic").spent == ledger.balance("clinic", "ada").spent == Fraction(2**63 - 1, UNIT)
        repeats = ledger.repeats("clinic")
        assert repeats is not None
        assert repeats.count == 0
        with pytest.raises(BudgetExceeded, match="at most 0"):
            ledger.charge("clinic", "ben", "0.1", rho=tiny)
        assert ledger.verify().ok


def test_an_account_of_no_whole_numbers_is_broken(tmp_path: Path) -> None:
    """An account that SQLite has made a floating-point number of is told as a broken ledger, not as a mistake."""
    place = Place("sqlite", str(tmp_path / "budget.db"))
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 1)
        ledger.charge("clinic", "ada", "0.5")
        place.raw("UPDATE ledger_accounts SET spent = 1e19")
        for look in (ledger.balance, ledger.repeats):
            with pytest.raises(LedgerBroken, match="whole numbers"):
                look("clinic")
        assert not ledger.verify().ok
