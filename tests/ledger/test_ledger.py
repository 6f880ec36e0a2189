"""What was spent never exceeds a cap, and a request is charged and answered once."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbounds.errors import BudgetExceeded, InboundsError, InvalidParameter, LedgerConflict, LedgerUnavailable
from inbounds.ledger import Balance, Ledger, Receipt
from tests.helpers import ledger_places
from tests.helpers.ledger_places import Place

place = ledger_places.place

TENTH = Fraction(1, 10)

names = count()


@pytest.fixture
def ledger(place: Place) -> Any:
    """Yield a ledger with one dataset: 1 in all, half of it for each analyst."""
    with Ledger.open(place.where) as opened:
        opened.open_dataset("clinic", 1, per_analyst="0.5")
        yield opened


def test_a_charge_is_taken_from_both_accounts(ledger: Ledger) -> None:
    """The dataset and the analyst have less by exactly what was charged; others have what they had."""
    receipt = ledger.charge("clinic", "ada", 0.1, note="a first look")
    assert receipt == Receipt(2, receipt.request_id, TENTH, receipt.time)
    assert receipt.fresh
    assert ledger.balance("clinic") == Balance(Fraction(1), TENTH)
    assert ledger.balance("clinic", "ada").left == Fraction(2, 5)
    assert ledger.balance("clinic", "bob") == Balance(Fraction(1, 2), Fraction(0))


@pytest.mark.slow
@given(
    st.integers(1, 30),
    st.none() | st.integers(1, 30),
    st.lists(
        st.tuples(st.sampled_from(["charge", "grant"]), st.sampled_from([None, "ada", "bob"]), st.integers(-9, 15)),
        max_size=25,
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_the_ledger_does_what_a_few_sums_do(
    ledger: Ledger, total: int, each: int | None, deeds: list[tuple[str, str | None, int]]
) -> None:
    """Whatever is charged and granted in whatever order, the accounts are those of a model, and no cap is exceeded."""
    dataset = f"dataset {next(names)}"
    ledger.open_dataset(dataset, total, each)
    caps: dict[str | None, int | None] = {None: total, "ada": each, "bob": each}
    spent = dict.fromkeys(caps, 0)
    for kind, analyst, amount in deeds:
        if kind == "charge" and analyst and amount > 0:
            over = any(
                cap is not None and spent[who] + amount > cap for who, cap in caps.items() if who in {None, analyst}
            )
            if over:
                with pytest.raises(BudgetExceeded):
                    ledger.charge(dataset, analyst, amount)
            else:
                ledger.charge(dataset, analyst, amount)
                spent[None] += amount
                spent[analyst] += amount
        elif kind == "grant" and amount:
            cap = caps[analyst]
            if cap is None or cap + amount < spent[analyst]:
                with pytest.raises(LedgerConflict):
                    ledger.grant(dataset, amount, analyst)
            else:
                ledger.grant(dataset, amount, analyst)
                caps[analyst] = cap + amount
        for who, cap in caps.items():
            assert ledger.balance(dataset, who) == Balance(None if cap is None else Fraction(cap), Fraction(spent[who]))
    assert ledger.verify().ok


def test_a_refused_charge_says_what_is_left(ledger: Ledger) -> None:
    """Over either cap nothing is written, and the message and the attributes tell what is left for whom."""
    ledger.charge("clinic", "ada", "0.3")
    before = ledger.head()
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge("clinic", "ada", "0.25")
    assert str(refused.value) == (
        "'ada' cannot spend 0.25 on 'clinic': the dataset has 0.7 left and 'ada' has 0.2 left; "
        "ask for less, or ask the custodian to grant more"
    )
    error = pickle.loads(pickle.dumps(refused.value))
    assert (error.dataset, error.analyst, error.requested) == ("clinic", "ada", Fraction(1, 4))
    assert (error.left_total, error.left_analyst) == (Fraction(7, 10), Fraction(1, 5))
    assert ledger.head() == before
    ledger.charge("clinic", "bob", "0.5")
    with pytest.raises(BudgetExceeded, match=r"the dataset has 0\.2 left and 'eve' has 0\.5 left"):
        ledger.charge("clinic", "eve", "0.3")
    ledger.charge("clinic", "eve", "0.2")
    assert ledger.balance("clinic").left == 0


def test_without_a_cap_per_analyst_only_the_total_counts(ledger: Ledger) -> None:
    """Analysts are booked but not bounded, and cannot be granted anything of their own."""
    ledger.open_dataset("census", 2)
    ledger.charge("census", "ada", 2)
    assert ledger.balance("census", "ada") == Balance(None, Fraction(2))
    assert ledger.balance("census", "ada").left is None
    assert str(ledger.balance("census", "ada")) == "2 spent, no cap of its own"
    with pytest.raises(BudgetExceeded, match="the dataset has 0 left; ask for less") as refused:
        ledger.charge("census", "ada", "0.000000000001")
    assert refused.value.left_analyst is None
    with pytest.raises(LedgerConflict, match="no cap per analyst"):
        ledger.grant("census", 1, "ada")


def test_the_same_request_is_charged_once(ledger: Ledger) -> None:
    """The first receipt comes back, whatever the note says; with anything else changed the id is refused."""
    first = ledger.charge("clinic", "ada", 0.1, "request 1", "count of all", "a note")
    again = ledger.charge("clinic", "ada", "0.1", "request 1", "count of all")
    assert again == Receipt(first.seq, "request 1", TENTH, first.time, None, fresh=False)
    ledger.open_dataset("census", 1)
    for other in (
        ("census", "ada", 0.1, "request 1", "count of all"),
        ("clinic", "bob", 0.1, "request 1", "count of all"),
        ("clinic", "ada", 0.2, "request 1", "count of all"),
        ("clinic", "ada", 0.1, "request 1", "count of some"),
    ):
        with pytest.raises(LedgerConflict, match="'request 1' was charged for another"):
            ledger.charge(*other)
    assert ledger.balance("clinic").spent == TENTH


def test_a_charged_request_can_be_asked_again_when_nothing_is_left(ledger: Ledger) -> None:
    """Repeating costs nothing, so it is allowed at the cap."""
    ledger.charge("clinic", "ada", "0.5", "all of it")
    assert not ledger.charge("clinic", "ada", "0.5", "all of it").fresh


def test_a_request_is_answered_once(ledger: Ledger) -> None:
    """The first answer is kept, and it is the only one that ever comes back, empty or not."""
    receipt = ledger.charge("clinic", "ada", 0.1, "request 1")
    assert ledger.answered(receipt, "42 → ∞\n") == "42 → ∞\n"
    assert ledger.answered(receipt, "43") == "42 → ∞\n"
    again = ledger.charge("clinic", "ada", 0.1, "request 1")
    assert again.answer == "42 → ∞\n"
    assert ledger.answered(again, "44") == "42 → ∞\n"
    assert sum(entry.kind == "answer" for entry in ledger.statement()) == 1
    empty = ledger.charge("clinic", "ada", 0.1)
    assert ledger.answered(empty, "") == ledger.answered(empty, "later") == ""


def test_only_a_charged_request_is_answered(ledger: Ledger) -> None:
    """A receipt that this ledger did not write is refused, and the message does not hold the answer."""
    receipt = ledger.charge("clinic", "ada", 0.1)
    for other in (
        Receipt(receipt.seq, "another", TENTH, receipt.time),
        Receipt(7, receipt.request_id, TENTH, receipt.time),
        Receipt(receipt.seq, receipt.request_id, TENTH, "2001-01-01"),
    ):
        with pytest.raises(LedgerConflict, match="was not charged here") as refused:
            ledger.answered(other, "12345")
        assert "12345" not in str(refused.value)


def test_opening_twice_with_the_same_numbers_does_nothing(ledger: Ledger) -> None:
    """Also after grants; with other numbers it is a conflict that says both and names the remedy."""
    ledger.grant("clinic", 3)
    head = ledger.head()
    ledger.open_dataset("clinic", 1.0, Fraction(1, 2))
    assert ledger.head() == head
    for total, each in ((2, "0.5"), (1, "0.25"), (1, None), (4, "0.5")):
        with pytest.raises(LedgerConflict, match=r"opened with a total of 1 and 0\.5 per analyst, got .* with grant"):
            ledger.open_dataset("clinic", total, each)
    assert ledger.datasets() == ["clinic"]


def test_grants_raise_and_lower_caps(ledger: Ledger) -> None:
    """A cap moves by what was granted, never below what is spent, and every change is an entry."""
    ledger.charge("clinic", "ada", "0.4")
    ledger.grant("clinic", "0.25", "ada", note="for the second study")
    ledger.grant("clinic", "-0.6")
    assert ledger.balance("clinic") == Balance(Fraction(2, 5), Fraction(2, 5))
    assert str(ledger.balance("clinic", "ada")) == "0.4 of 0.75 spent, 0.35 left"
    for amount, analyst in (("-0.000000000001", None), ("-0.350000000001", "ada"), (10**6, None)):
        with pytest.raises(LedgerConflict, match="must stay between what is spent and 1000000"):
            ledger.grant("clinic", amount, analyst)
    granted = [entry.data() for entry in ledger.statement() if entry.kind == "grant"]
    assert [(entry["analyst"], entry["amount"], entry["text"]) for entry in granted] == [
        ("ada", "0.25", "for the second study"),
        ("", "-0.6", ""),
    ]


def test_what_was_not_opened_is_a_conflict(ledger: Ledger) -> None:
    """A name that is not there is never created in passing."""
    for ask in (
        lambda: ledger.charge("clinik", "ada", 1),
        lambda: ledger.grant("clinik", 1),
        lambda: ledger.balance("clinik"),
        lambda: ledger.statement("clinik"),
    ):
        with pytest.raises(LedgerConflict, match=r"has no dataset 'clinik'; check the name .* open_dataset"):
            ask()


def test_a_statement_is_a_table_and_data(ledger: Ledger) -> None:
    """Its sums are those of the accounts, no line is wider than 80 columns, and the data loses no field."""
    ledger.open_dataset("x" * 200, "999999.999999999999", "0.000000000001")
    ledger.charge("x" * 200, "y" * 200, "0.000000000001")
    ledger.answered(ledger.charge("clinic", "ada", 0.1, fingerprint="f"), "the answer")
    ledger.charge("clinic", "ada", 0.1)
    statement = ledger.statement()
    assert statement.spent == Fraction(1, 5) + Fraction(1, 10**12)
    assert statement.spent_by["clinic", "ada"] == ledger.balance("clinic", "ada").spent
    lines = str(statement).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "3 charges, 0.200000000001 spent in total"
    assert statement._repr_html_().count("<tr>") == 1 + 6 + 2
    assert [entry.kind for entry in ledger.statement("clinic", "ada")] == ["charge", "answer", "charge"]
    answer = ledger.statement(analyst="ada").data()[1]
    assert (answer["kind"], answer["text"], answer["fingerprint"]) == ("answer", "the answer", "f")
    assert len(statement) == len(statement.data()) == 6


BAD_NAMES: list[Any] = ["", " ", "a\nb", "a\0b", "\ud800", "x" * 201, None, 5, b"ada"]


@pytest.mark.parametrize("bad", BAD_NAMES, ids=ascii)
def test_bad_names_are_refused(ledger: Ledger, bad: Any) -> None:
    """A dataset, an analyst or a request is a printable text of 1 to 200 characters."""
    asked: list[tuple[str, Callable[[], object]]] = [
        ("a dataset", lambda: ledger.open_dataset(bad, 1)),
        ("a dataset", lambda: ledger.charge(bad, "ada", 1)),
        ("an analyst", lambda: ledger.charge("clinic", bad, 1)),
    ]
    if bad is not None:
        asked.append(("a request_id", lambda: ledger.charge("clinic", "ada", "0.1", bad)))
        asked.append(("an analyst", lambda: ledger.grant("clinic", 1, bad)))
    for what, ask in asked:
        with pytest.raises(InvalidParameter, match=f"^{what} must be a printable text of 1 to 200 characters, got"):
            ask()
    assert ledger.head().seq == 1


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", "x" * 16_000_001, None, b"x"], ids=lambda bad: ascii(bad)[:9])
def test_bad_texts_are_refused_and_not_shown(ledger: Ledger, bad: Any) -> None:
    """What no store can give back unchanged is not kept."""
    receipt = ledger.charge("clinic", "ada", 0.1)
    for ask in (
        lambda: ledger.answered(receipt, bad),
        lambda: ledger.charge("clinic", "ada", 0.1, note=bad),
        lambda: ledger.charge("clinic", "ada", 0.1, fingerprint=bad),
        lambda: ledger.grant("clinic", 0.1, note=bad),
    ):
        with pytest.raises(InvalidParameter, match="must be a text of at most 16000000 characters") as refused:
            ask()
        assert len(str(refused.value)) < 300
    assert ledger.head().seq == 2


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_texts_come_back_as_they_were(ledger: Ledger, text: str) -> None:
    """An answer is kept letter by letter, and the chain over it holds."""
    dataset = f"dataset {next(names)}"
    ledger.open_dataset(dataset, 1)
    receipt = ledger.charge(dataset, "ada", 1, fingerprint=text)
    assert ledger.answered(receipt, text) == ledger.charge(dataset, "ada", 1, receipt.request_id, text).answer == text
    assert ledger.verify().ok


def test_a_ledger_outlives_its_opening(place: Place) -> None:
    """What one opening wrote the next one has; a closed ledger says so, and can be closed again."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 1)
        receipt = ledger.charge("clinic", "ada", 0.1, "request 1")
    ledger.close()
    with pytest.raises(LedgerUnavailable, match="it was closed; open it again; nothing was charged"):
        ledger.charge("clinic", "ada", 0.1)
    with Ledger.open(place.where) as ledger:
        assert ledger.charge("clinic", "ada", 0.1, "request 1").seq == receipt.seq
        assert ledger.verify().ok


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    """Eight threads that ask for more than there is get exactly what there is."""
    ledger.open_dataset("census", 1)
    receipts: list[Receipt] = []
    refusals: list[InboundsError] = []

    def ask(name: str) -> None:
        for _ in range(20):
            try:
                receipts.append(ledger.charge("census", name, "0.01"))
            except BudgetExceeded as refused:
                refusals.append(refused)

    threads = [threading.Thread(target=ask, args=(f"analyst {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(receipts), len(refusals)) == (100, 60)
    assert len({receipt.seq for receipt in receipts}) == 100
    assert ledger.balance("census").left == 0
    assert ledger.verify().ok


def test_threads_may_open_and_create_the_same_ledger(place: Place) -> None:
    """Eight at once, each with a ledger of its own: one creates it, and all charge."""
    start = threading.Barrier(8)
    receipts: list[Receipt] = []

    def ask() -> None:
        start.wait()
        with Ledger.open(place.where) as ledger:
            ledger.open_dataset("census", 1)
            receipts.append(ledger.charge("census", "ada", "0.1"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Ledger.open(place.where) as ledger:
        assert sorted(receipt.seq for receipt in receipts) == list(range(2, 10))
        assert ledger.verify().entries == 9
        assert ledger.verify().ok


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_uses_the_ledger_as_its_parent_does(ledger: Ledger) -> None:
    """Parent and children charge through the ledger that the parent opened, even if a thread of it held the turn."""
    children = []
    with ledger._store._turn:
        for _ in range(4):
            pid = os.fork()
            if pid == 0:
                _charge_and_leave(ledger)
            children.append(pid)
    for _ in range(5):
        ledger.charge("clinic", "parent", "0.01")
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    ledger.charge("clinic", "parent", "0.01")
    assert ledger.balance("clinic").spent == Fraction(26, 100)
    assert ledger.verify().ok


def _charge_and_leave(ledger: Ledger) -> None:
    """Charge as a child, and end without what pytest does at the end."""
    try:
        for _ in range(5):
            ledger.charge("clinic", "child", "0.01")
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.parametrize("bad", ["", ":memory:", None, 5, "mysql://root:hunter2@host/db", "sqlite:///x.db", "a\0b"])
def test_what_is_no_place_is_refused(bad: Any) -> None:
    """Only a path or the URL of a PostgreSQL server can be opened; a password in another URL is not shown."""
    with pytest.raises(InvalidParameter, match=r"must be a path or a postgresql:// URL, got") as refused:
        Ledger.open(bad)
    assert "hunter2" not in str(refused.value)


def _found(place: Place) -> Any:
    """Return everything that is at a place: files with their content, or tables."""
    if place.kind == "sqlite":
        return {path.name: path.read_bytes() for path in Path(place.where).parent.iterdir()}
    return place.raw("SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace")


def test_a_ledger_that_is_not_there_is_not_created_against_the_wish(place: Place) -> None:
    """With create=False a place without a ledger is refused, by what it is, and is left as empty as it was."""
    before = _found(place)
    remedy = "check the path" if place.kind == "sqlite" else "check the address"
    with pytest.raises(InvalidParameter, match=f"^there is no ledger at .*; {remedy}, or ask a question first$"):
        Ledger.open(place.where, create=False)
    assert not before
    assert _found(place) == before


def test_a_ledger_that_is_there_opens_all_the_same(place: Place) -> None:
    """With create=False a ledger that was created before is opened, charged and verified like any other."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("clinic", 1)
    with Ledger.open(place.where, create=False) as ledger:
        ledger.charge("clinic", "ada", "0.1")
        assert ledger.balance("clinic").spent == TENTH
        assert ledger.verify().ok


def test_tables_of_others_are_no_ledger(place: Place) -> None:
    """With create=False a database without the tables of a ledger is refused, and gets none."""
    place.raw("CREATE TABLE guests (name TEXT)")
    before = _found(place)
    no_ledger = (LedgerConflict, "but not a ledger") if place.kind == "sqlite" else (InvalidParameter, "no ledger at")
    with pytest.raises(no_ledger[0], match=no_ledger[1]):
        Ledger.open(place.where, create=False)
    assert _found(place) == before


@pytest.mark.parametrize("where", ["nowhere/budget.db", "notes.txt/budget.db", "empty.db", "dangling.db"])
def test_no_file_and_an_empty_file_are_no_ledger(tmp_path: Path, where: str) -> None:
    """With create=False nothing is written where there is no folder, no file, or a file without a byte."""
    (tmp_path / "notes.txt").touch()
    (tmp_path / "empty.db").touch()
    (tmp_path / "dangling.db").symlink_to(tmp_path / "gone.db")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InvalidParameter, match="there is no ledger at"):
        Ledger.open(tmp_path / where, create=False)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "empty.db").stat().st_size == 0


def test_a_dataset_is_not_opened_against_the_wish(ledger: Ledger) -> None:
    """With create=False only a dataset that is there, with the same caps, is accepted; nothing is ever written."""
    before = ledger.head()
    ledger.open_dataset("clinic", 1, per_analyst="0.5", create=False)
    with pytest.raises(LedgerConflict, match="has no dataset 'clinik'"):
        ledger.open_dataset("clinik", 1, create=False)
    with pytest.raises(LedgerConflict, match="was opened with"):
        ledger.open_dataset("clinic", 2, per_analyst="0.5", create=False)
    assert ledger.head() == before


def test_a_path_is_a_place(tmp_path: Path) -> None:
    """A Path opens like its text, and the ledger says where it is."""
    with Ledger.open(tmp_path / "ä ?#%.db") as ledger:
        ledger.open_dataset("clinic", 1)
        assert repr(ledger) == f"<Ledger {tmp_path / 'ä ?#%.db'}>"
    with Ledger.open(str(tmp_path / "ä ?#%.db")) as ledger:
        assert ledger.datasets() == ["clinic"]
    assert [path.name for path in tmp_path.iterdir()] == ["ä ?#%.db"]


def test_a_balance_is_data(ledger: Ledger) -> None:
    """As a dictionary it has the cap, what is spent and what is left, exactly; None where there is no cap."""
    ledger.open_dataset("open to all", 2)
    ledger.charge("clinic", "ada", "0.1")
    ledger.charge("open to all", "ada", "0.1")
    assert ledger.balance("clinic").data() == {"cap": 1, "spent": TENTH, "left": 1 - TENTH}
    assert ledger.balance("open to all", "ada").data() == {"cap": None, "spent": TENTH, "left": None}
