"""Whoever alters a ledger is found out; whoever can rewrite all of it, by a head that was saved elsewhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from inbounds.errors import InvalidParameter, LedgerBroken
from inbounds.exact.amount import UNIT
from inbounds.ledger import Entry, Head, Ledger
from inbounds.ledger.values.entry import FIELDS, START
from tests.helpers import ledger_places
from tests.helpers.ledger_places import Place

place = ledger_places.place

_UPDATE = f"UPDATE ledger_entries SET {', '.join(f'{name} = ?' for name in FIELDS)} WHERE seq = ?"
_INSERT = f"INSERT INTO ledger_entries ({', '.join(FIELDS)}) VALUES ({', '.join('?' * len(FIELDS))})"


@pytest.fixture
def ledger(place: Place) -> Any:
    """Yield a ledger in which everything happened once, without what keeps honest people from altering it."""
    with Ledger.open(place.where) as opened:
        opened.open_dataset("clinic", 1, per_analyst="0.5")
        opened.open_dataset("census", 2)
        opened.answered(opened.charge("clinic", "ada", "0.1", "r1", "count", "a note"), "42")
        opened.grant("clinic", "0.2", "ada")
        opened.grant("clinic", "-0.1")
        opened.answered(opened.charge("census", "bob", "0.3", "r2", "mean"), "7")
        place.unlock()
        yield opened


def altered(value: Any, name: str) -> Any:
    """Return another value that a field could have."""
    if name == "kind":
        return "grant" if value == "charge" else "charge"
    if name == "seq":
        return value + 100
    if value is None:
        return 5
    return value + 1 if isinstance(value, int) else value + "x"


def rewrite(place: Place, entries: list[Entry]) -> None:
    """Put other entries in the place of all, chained as they should be, and the head too."""
    place.raw("DELETE FROM ledger_entries")
    head = START
    for entry in entries:
        moved = replace(entry, seq=head.seq + 1, previous=head.digest)
        sealed = replace(moved, digest=moved.computed())
        place.raw(_INSERT, sealed.row())
        head = sealed.head
    place.raw("UPDATE ledger_head SET seq = ?, digest = ?", (head.seq, head.digest))


def add(ledger: Ledger, kind: str, **fields: Any) -> None:
    """Append an entry as a ledger without rules would."""
    with ledger._store.writing():
        ledger._book.append(ledger._book.lock(), kind, "clinic", **fields)


def test_an_untouched_ledger_is_in_order(ledger: Ledger) -> None:
    """So is an empty one, and so it is against every head that it ever had."""
    found = ledger.verify(ledger.head())
    assert found.ok
    assert (found.entries, found.head, found.problems) == (8, ledger.head(), ())
    assert str(found) == f"ok: 8 entries, head {ledger.head()}"
    found.raise_if_broken()
    for entry in ledger.statement():
        assert ledger.verify(entry.head).ok
        assert ledger.verify(str(entry.head)).ok
    assert ledger.verify(START).ok


@pytest.mark.slow
@pytest.mark.parametrize("name", FIELDS)
def test_any_altered_field_of_any_entry_is_found(ledger: Ledger, place: Place, name: str) -> None:
    """The problem names the entry, and nothing is wrong once the field is what it was."""
    for entry in ledger.statement():
        value = getattr(entry, name)
        changed = altered(value, name)
        seq = changed if name == "seq" else entry.seq
        place.raw(f"UPDATE ledger_entries SET {name} = ? WHERE seq = ?", (changed, entry.seq))
        found = ledger.verify()
        assert not found.ok
        assert any(f"entry {seq} was altered" in problem for problem in found.problems)
        with pytest.raises(LedgerBroken, match="BROKEN"):
            found.raise_if_broken()
        place.raw(f"UPDATE ledger_entries SET {name} = ? WHERE seq = ?", (value, seq))
        assert ledger.verify().ok


def test_an_entry_that_was_altered_and_sealed_again_is_found(ledger: Ledger, place: Place) -> None:
    """Its successor continues something else; after the last there is the stored head."""
    for entry in ledger.statement():
        moved = replace(entry, fingerprint="another")
        place.raw(_UPDATE, (*replace(moved, digest=moved.computed()).row(), entry.seq))
        told = " ".join(ledger.verify().problems)
        assert f"entry {entry.seq + 1} does not continue" in told or "the head that is stored" in told
        place.raw(_UPDATE, (*entry.row(), entry.seq))


def test_a_removed_entry_is_found(ledger: Ledger, place: Place) -> None:
    """Wherever it was."""
    for entry in ledger.statement():
        place.raw("DELETE FROM ledger_entries WHERE seq = ?", (entry.seq,))
        assert not ledger.verify().ok
        place.raw(_INSERT, entry.row())
    assert ledger.verify().ok


def test_exchanged_entries_are_found(ledger: Ledger, place: Place) -> None:
    """Two that swap their numbers do not match their digests."""
    first, second = list(ledger.statement())[3:5]
    place.raw("DELETE FROM ledger_entries WHERE seq IN (4, 5)")
    place.raw(_INSERT, replace(first, seq=second.seq).row())
    place.raw(_INSERT, replace(second, seq=first.seq).row())
    told = " ".join(ledger.verify().problems)
    assert "entry 4 was altered" in told
    assert "entry 5 was altered" in told


def test_an_inserted_entry_is_found(ledger: Ledger, place: Place) -> None:
    """Even one that continues the last: the head and the accounts do not know of it."""
    last = list(ledger.statement())[-1]
    fields = {**replace(last, kind="charge", amount=5, request_id="r3").__dict__}
    for derived in ("seq", "previous", "digest"):
        del fields[derived]
    place.raw(_INSERT, Entry.after(last.head, **fields).row())
    told = " ".join(ledger.verify().problems)
    assert "the head that is stored, 8:" in told
    assert "account of 'census'" in told


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ledger_accounts SET spent = spent - 1 WHERE analyst = 'ada'",
        "UPDATE ledger_accounts SET cap = cap + 1 WHERE dataset = 'clinic' AND analyst = ''",
        "UPDATE ledger_accounts SET cap = 5 WHERE analyst = 'bob'",
        "DELETE FROM ledger_accounts WHERE analyst = 'bob'",
        "DELETE FROM ledger_accounts",
        "INSERT INTO ledger_accounts (dataset, analyst, cap, spent) VALUES ('clinic', 'eve', 5, 0)",
        "UPDATE ledger_head SET seq = seq - 1",
        "UPDATE ledger_head SET digest = 'x'",
        "DELETE FROM ledger_head",
    ],
)
def test_accounts_and_a_head_that_entries_do_not_bear_out_are_found(ledger: Ledger, place: Place, change: str) -> None:
    """What is derived from the entries must be what they come to."""
    place.raw(change)
    assert not ledger.verify().ok


def test_a_rewritten_ledger_is_found_by_a_saved_head_only(ledger: Ledger, place: Place) -> None:
    """Whoever has the file can write another history that is in order; the head that was saved is not in it."""
    head = ledger.head()
    rewrite(place, [replace(entry, fingerprint="another") for entry in ledger.statement()])
    assert ledger.verify().ok
    found = ledger.verify(head)
    assert len(found.problems) == 1
    assert f"the saved head {head} is not in the chain, which ends at entry 8" in found.problems[0]


def test_a_truncated_ledger_is_found_by_a_saved_head_only(ledger: Ledger, place: Place) -> None:
    """The negative control: without the head, a tail that was cut off with its sums is not missed."""
    head = ledger.head()
    rewrite(place, list(ledger.statement())[:-2])
    assert not ledger.verify().ok
    place.raw("UPDATE ledger_accounts SET spent = 0 WHERE dataset = 'census' AND analyst = ''")
    place.raw("DELETE FROM ledger_accounts WHERE dataset = 'census' AND analyst = 'bob'")
    assert ledger.verify().ok
    assert ledger.balance("census").spent == 0
    assert not ledger.verify(head).ok
    assert not ledger.verify(str(head)).ok
    ledger.charge("census", "bob", "0.3", "r2", "mean")
    ledger.charge("census", "bob", "0.3", "r3", "mean")
    assert not ledger.verify(head).ok


def test_a_cap_that_was_exceeded_once_is_found(ledger: Ledger, place: Place) -> None:
    """Though a later grant makes up for it, and all the sums are right."""
    add(ledger, "charge", analyst="ada", amount=2 * UNIT, request_id="r9")
    add(ledger, "grant", amount=5 * UNIT)
    add(ledger, "grant", analyst="ada", amount=5 * UNIT)
    mend = "UPDATE ledger_accounts SET cap = cap + ?, spent = spent + ? WHERE dataset = 'clinic'"
    place.raw(mend, (5 * UNIT, 2 * UNIT))
    assert ledger.balance("clinic").left == Fraction(38, 10)
    assert ledger.verify().problems == ("entry 9 takes 'clinic' over the cap: 2.1 of 0.9 spent",)


@pytest.mark.parametrize(
    ("kind", "fields", "problem"),
    [
        ("answer", {"analyst": "ada", "request_id": "r1", "text": "43"}, "is a second answer to the same request"),
        ("answer", {"analyst": "ada", "request_id": "r7"}, "answers a request that was not charged"),
        ("answer", {"analyst": "eve", "request_id": "r2"}, "is a second answer to the same request"),
        ("charge", {"analyst": "ada", "request_id": "r1", "amount": 5}, "charges a request that was charged before"),
        ("charge", {"analyst": "ada", "request_id": "r5", "amount": -5}, "charges an amount that is not above 0"),
        ("open", {"amount": 5}, "opens a dataset that is already open"),
        ("grant", {"analyst": "ada", "amount": -UNIT}, "takes 'ada' in 'clinic' over the cap: 0.1 of -0.3 spent"),
    ],
)
def test_what_no_ledger_would_write_is_found(ledger: Ledger, kind: str, fields: dict[str, Any], problem: str) -> None:
    """An entry that is chained well but breaks a rule is named."""
    add(ledger, kind, **fields)
    assert f"entry 9 {problem}" in ledger.verify().problems


def test_values_of_another_type_are_found(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SQLite keeps anything anywhere; bytes, broken text and fractions are altered entries, not a crash."""
    place = Place("sqlite", str(tmp_path_factory.mktemp("types") / "budget.db"))
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 1)
        place.unlock()
        for change in ("text = X'ff'", "text = CAST(X'ff' AS TEXT)", "amount = 0.5", "kind = 'gift'", "amount = 'all'"):
            ledger.charge("clinic", "ada", "0.01")
            place.raw(f"UPDATE ledger_entries SET {change} WHERE seq = (SELECT max(seq) FROM ledger_entries)")
            assert any(f"entry {ledger.head().seq} was altered" in told for told in ledger.verify().problems)


def test_many_problems_are_told_in_short(ledger: Ledger, place: Place) -> None:
    """After a hundred sentences there is only a number."""
    for _ in range(60):
        ledger.charge("census", "bob", "0.001")
    place.raw("UPDATE ledger_entries SET time = '2001', previous = 'x'")
    problems = ledger.verify().problems
    assert len(problems) == 101
    assert problems[-1].startswith("and ")


def test_entries_cannot_be_changed_in_passing(place: Place) -> None:
    """The database itself refuses to update or delete an entry."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 1)
        for change in ("UPDATE ledger_entries SET amount = 5", "DELETE FROM ledger_entries"):
            with pytest.raises(Exception, match="entries of a ledger are never changed"):
                place.raw(change)
        assert ledger.verify().ok


def test_a_head_is_written_and_read() -> None:
    """What `str` writes `parse` reads, and nothing else."""
    head = Head(17, "ab" * 32)
    assert Head.parse(f" {head}\n") == head
    assert str(head) == "17:" + "ab" * 32
    bad: list[Any] = ["", "17", "17:ab", f"x:{'ab' * 32}", f"17:{'AB' * 32}", f"-1:{'ab' * 32}", None, 17]
    for text in bad:
        with pytest.raises(InvalidParameter, match="a head must read like"):
            Head.parse(text)


def test_the_digest_of_an_entry_is_fixed() -> None:
    """The canonical form never changes: a ledger of today is verified by the releases to come."""
    entry = Entry.after(
        START,
        time="2026-01-01T00:00:00.000000+00:00",
        kind="open",
        dataset="Klinik Süd",
        analyst="",
        amount=UNIT,
        per_analyst=None,
        request_id="",
        fingerprint="",
        text="",
    )
    assert entry.digest == "5eb1235a660f15cc9e6fbc867cf9af8ec9bc85d3c65bd7c6876ce85688b78b62"
