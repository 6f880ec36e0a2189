"""A ledger with a witness: an older copy or another ledger is refused, and nothing leaves that the witness lacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidParameter, LedgerBroken, LedgerMissing, LedgerReplaced, LedgerUnavailable
from inbounds.ledger import Head, Ledger
from inbounds.ledger.stores.schema import VERSION
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.entry import START
from inbounds.ledger.values.restore_record import RestoreRecord
from tests.helpers.ledger_places import Place, place
from tests.helpers.ledger_versions import take_back, version_of

__all__ = ["place"]


class Memory:
    """A witness in memory, which can be made to fail."""

    def __init__(self) -> None:
        self.last: Head | None = None
        self.full = False
        self._turn = threading.Lock()

    def heads(self) -> Collection[Head]:
        """Return the last head."""
        return () if self.last is None else (self.last,)

    def keep(self, head: Head) -> None:
        """Keep a head, unless there is no room."""
        with self._turn:
            if self.last is None or head.seq > self.last.seq:
                if self.full:
                    raise Failure("the disk is full; make room")
                self.last = head


@pytest.fixture
def witness() -> Memory:
    """A witness that knows nothing yet."""
    return Memory()


@pytest.fixture
def ledger(place: Place, witness: Memory) -> Any:
    """A ledger with a dataset in it, and a witness."""
    with Ledger.open(place.where, witness=witness) as found:
        found.open_dataset("clinic", 10)
        yield found


USES: dict[str, Callable[[Ledger], object]] = {
    "charge": lambda ledger: ledger.charge("clinic", "ada", 1),
    "grant": lambda ledger: ledger.grant("clinic", 1),
    "balance": lambda ledger: ledger.balance("clinic"),
    "statement": lambda ledger: ledger.statement(),
    "page": lambda ledger: ledger.page(0, 10),
    "request": lambda ledger: ledger.request("one"),
    "requests": lambda ledger: ledger.requests("ada", 0, 10),
    "head": lambda ledger: ledger.head(),
    "verify": lambda ledger: ledger.verify(),
}


@pytest.mark.parametrize("use", USES)
def test_another_ledger_is_refused_whatever_is_asked_of_it(
    place: Place, ledger: Ledger, witness: Memory, use: str
) -> None:
    """One that lacks the head that is known is neither charged nor read, also if it is exchanged while it is open."""
    ledger.charge("clinic", "ada", 1, "one")
    assert witness.last == ledger.head()
    for known in (Head(3, "a" * 64), Head(2, "b" * 64)):  # one that is shorter, and one that went another way
        witness.last = known
        entries = place.raw("SELECT count(*) FROM ledger_entries")
        with pytest.raises(LedgerReplaced, match=rf"entry {known.seq} \(.*ends at entry 2; .*accept-restore"):
            USES[use](ledger)
        assert place.raw("SELECT count(*) FROM ledger_entries") == entries


def test_a_ledger_that_is_ahead_is_the_same(place: Place, ledger: Ledger, witness: Memory) -> None:
    """After a crash between a charge and its head, and beside programs without a witness, the ledger is ahead."""
    with Ledger.open(place.where) as other:
        other.charge("clinic", "bob", 1)
    assert witness.last is not None
    assert witness.last.seq == 1
    assert ledger.balance("clinic").spent == 1
    assert witness.last == ledger.head()


def test_nothing_is_acknowledged_before_the_witness_has_it(ledger: Ledger, witness: Memory) -> None:
    """A charge, an answer, a balance and an entry leave when their head is kept; asked again, they are as they were."""
    witness.full = True
    with pytest.raises(LedgerUnavailable, match=r"the disk is full.*ask again with the same request id, 'one'") as told:
        ledger.charge("clinic", "ada", 1, "one")
    assert told.value.uncertain
    witness.full = False
    receipt = ledger.charge("clinic", "ada", 1, "one")
    assert not receipt.fresh
    witness.full = True
    with pytest.raises(LedgerUnavailable, match="the answer may have been kept") as unsure:
        ledger.answered(receipt, "42")
    assert unsure.value.uncertain
    for use in ("balance", "statement", "page", "request", "requests"):
        with pytest.raises(LedgerUnavailable, match="the disk is full"):
            USES[use](ledger)
    with pytest.raises(LedgerUnavailable, match="it may have been charged"):
        ledger.charge("clinic", "ada", 1, "one")
    with pytest.raises(LedgerUnavailable, match="nothing was charged") as refused:
        ledger.charge("clinic", "ada", 1, "two")
    assert not refused.value.uncertain
    witness.full = False
    assert ledger.charge("clinic", "ada", 1, "one").answer == "42"
    assert ledger.answered(receipt, "43") == "42"
    assert witness.last == ledger.head()
    assert ledger.balance("clinic").spent == 1


def test_what_the_witness_has_is_told_while_it_is_full(ledger: Ledger, witness: Memory) -> None:
    """An answer that left before leaves again, whatever became of later charges."""
    ledger.answered(ledger.charge("clinic", "ada", 1, "one"), "42")
    witness.full = True
    with pytest.raises(LedgerUnavailable):
        ledger.charge("clinic", "ada", 1, "two")
    found = ledger.request("one")
    assert found is not None
    assert found[1] is not None
    assert ledger.charge("clinic", "ada", 1, "one").answer == "42"
    assert ledger.verify().ok


def test_no_ledger_is_begun_where_one_is_known(place: Place, witness: Memory) -> None:
    """A place that lost its ledger is refused, and left as it is; a new server has its first one."""
    witness.last = Head(7, "a" * 64)
    with pytest.raises(LedgerMissing, match="there is no ledger at"):
        Ledger.open(place.where, witness=witness)
    assert place.kind != "sqlite" or not Path(place.where).exists()
    witness.last = None
    with Ledger.open(place.where, witness=witness) as first:
        assert first.created


def test_many_at_once_keep_the_last_head(place: Place, witness: Memory) -> None:
    """Whoever is slower does not put an earlier head in the place of a later one."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 100)

    def charge(number: int) -> None:
        with Ledger.open(place.where, witness=witness) as own:
            for each in range(5):
                own.charge("clinic", "ada", 1, f"{number}-{each}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(charge, range(4)))
    with Ledger.open(place.where) as ledger:
        assert witness.last == ledger.head()
        assert ledger.balance("clinic").spent == 20


# What is accepted.


def test_an_accepted_ledger_says_who_why_and_what(place: Place) -> None:
    """The entry is in the chain, verifies, and stands in the statement of its dataset."""
    lost = Head(7, "a" * 64)
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 10)
        before = ledger.head()
        head = ledger.accept_restore({"clinic": lost, "ward": None}, "the disk failed", "carla")
        assert head == ledger.head()
        kept = [RestoreRecord.load(entry.text) for entry in ledger.statement() if entry.kind == "restore"]
        assert kept == [RestoreRecord(one, before, "carla", "the disk failed") for one in (lost, None)]
        assert ledger.verify(before).ok
        told = " ".join(str(ledger.statement("clinic")).split())
        assert "restore of entry 2, clinic: entry 7 (aaaaaaaaaaaa…) was lost" in told
        assert "accepted by carla: the disk failed" in told
        assert "how many entries there were before is not known" in " ".join(str(ledger.statement()).split())


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_reason_is_needed(place: Place, reason: str) -> None:
    """Nothing is recorded without one."""
    with Ledger.open(place.where) as ledger:
        with pytest.raises(InvalidParameter, match="needs a reason"):
            ledger.accept_restore({"clinic": None}, reason, "carla")
        assert ledger.head() == START


def test_a_ledger_of_an_earlier_release_is_accepted_as_well(place: Place) -> None:
    """Its entries and digests stay what they were; from then on it is one of this release."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 10)
        before = ledger.head()
    take_back(place, 2)
    with Ledger.open(place.where) as ledger:
        ledger.accept_restore({"clinic": Head(7, "a" * 64)}, "the disk failed", "carla")
        assert ledger.verify(before).ok
    assert version_of(place) == VERSION


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nonsense", "without saying which"),
        (RestoreRecord(None, Head(9, "a" * 64), "carla", "why").dump(), "without saying which"),
        (RestoreRecord(None, START, "carla", " ").dump(), "without a reason"),
    ],
)
def test_a_record_that_no_ledger_writes_is_found(place: Place, text: str, problem: str) -> None:
    """An acceptance without a reason, or of something that cannot be, does not verify."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 10)
        with ledger._store.writing():
            ledger._book.append(ledger._book.lock(), "restore", "clinic", text=text)
        with pytest.raises(LedgerBroken, match=f"entry 2 accepts a restored ledger {problem}"):
            ledger.verify().raise_if_broken()
