"""What a charge promises is on record: another contract under the same name is refused until the change is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.errors import InvalidParameter, LedgerConflict
from inbounds.ledger import Ledger, Terms
from inbounds.query import Dataset
from tests.helpers import ledger_places, ledger_versions
from tests.helpers.ledger_places import Place

place = ledger_places.place

PATIENTS = {"unit": "patient", "max_rows_per_unit": "4", "source": "visits.csv", "column age": "[0, 120]"}
ROWS = PATIENTS | {"unit": "each row is another person", "max_rows_per_unit": "1"}

CONTRACT = """
[dataset]
name = "visits"
source = "visits.csv"
unit = "patient"
max_rows_per_unit = 4
[columns.age]
bounds = "[0, 120]"
[columns.clinic]
keys = ["north", "south"]
[budget]
total = 1
"""


def test_other_terms_are_refused_until_the_change_is_recorded(place: Place) -> None:
    """By opening and by charging, also in a process that had opened the dataset before the change."""
    with Ledger.open(place.where) as first, Ledger.open(place.where) as second:
        first.open_dataset("visits", 1, terms=PATIENTS)
        first.open_dataset("visits", 1, terms=dict(reversed(PATIENTS.items())))
        first.charge("visits", "ada", "0.1", terms=PATIENTS)
        for create in (True, False):
            with pytest.raises(LedgerConflict, match=r"unit: patient, now each row is another person; .*contract"):
                second.open_dataset("visits", 1, terms=ROWS, create=create)
        with pytest.raises(LedgerConflict, match="max_rows_per_unit: 4, now 1"):
            second.charge("visits", "ada", "0.1", terms=ROWS)
        assert second.balance("visits").spent * 10 == 1
        second.change_terms("visits", ROWS, "each patient comes once")
        second.charge("visits", "ada", "0.1", "request", terms=ROWS)
        with pytest.raises(LedgerConflict, match="unit: each row is another person, now patient"):
            first.charge("visits", "ada", "0.1", terms=PATIENTS)
        assert not first.charge("visits", "ada", "0.1", "request", terms=PATIENTS).fresh
        assert [entry.kind for entry in first.statement()] == ["open", "contract", "charge", "contract", "charge"]
        assert first.terms("visits") == Terms.of(ROWS)
        verified = first.verify()
        assert verified.ok
        assert verified.terms == {"visits": Terms.of(ROWS)}
        told = str(first.statement("visits"))
        assert "contract of visits from entry 2 on: " in told
        assert "contract of visits from entry 4 on (changed: each patient" in told
        assert "each patient" in first.statement()._repr_html_()


def test_a_change_needs_a_reason_and_a_dataset(place: Place) -> None:
    """And the same terms again are no change."""
    with Ledger.open(place.where) as ledger:
        with pytest.raises(LedgerConflict, match="has no dataset 'visits'"):
            ledger.change_terms("visits", ROWS, "a reason")
        ledger.open_dataset("visits", 1, terms=PATIENTS)
        with pytest.raises(InvalidParameter, match="needs a reason"):
            ledger.change_terms("visits", ROWS, " ")
        ledger.change_terms("visits", PATIENTS, "a reason")
        assert len(ledger.statement()) == 2


def test_a_ledger_without_terms_gets_those_of_the_next_opening(place: Place) -> None:
    """One of the first release too: all entries stay what they were, and can still not be changed."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("visits", 1)
        ledger.charge("visits", "ada", "0.1", "request")
        before = list(ledger.statement())
    ledger_versions.take_back(place, 1)
    with Ledger.open(place.where, create=False) as ledger:
        ledger.open_dataset("visits", 1, terms=PATIENTS, create=False)
        assert ledger.terms("visits") is None
        assert list(ledger.statement()) == before
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("visits", 1, terms=PATIENTS)
        assert list(ledger.statement())[:2] == before
        assert ledger.statement().entries[2].kind == "contract"
        assert not ledger.charge("visits", "ada", "0.1", "request").fresh
        assert ledger.verify().ok
    with pytest.raises(Exception, match="entries of a ledger are never changed"):
        place.raw("DELETE FROM ledger_entries")


def test_terms_that_were_altered_are_found(place: Place) -> None:
    """The digest of the terms is in the chain, and the terms are those of the digest."""
    with Ledger.open(place.where) as ledger:
        ledger.open_dataset("visits", 1, terms=PATIENTS)
        entry = ledger.statement().entries[1]
        place.unlock()
        place.raw("UPDATE ledger_entries SET text = ? WHERE seq = 2", (Terms.of(ROWS).dump(""),))
        problems = ledger.verify().problems
        assert any("records terms that are not those of its fingerprint" in problem for problem in problems)
        with pytest.raises(LedgerConflict, match="terms of 'visits' in entry 2 cannot be read; verify the ledger"):
            ledger.charge("visits", "ada", "0.1", terms=ROWS)
        place.raw("UPDATE ledger_entries SET text = ? WHERE seq = 2", (entry.text,))
        assert ledger.verify().ok


texts = st.text(alphabet="ab:;,\"'é", max_size=3)


@given(st.dictionaries(texts, texts, min_size=1))
def test_terms_are_read_as_they_were_written(given: dict[str, str]) -> None:
    """And different terms have different digests."""
    terms = Terms.of(given)
    assert Terms.load(terms.dump("why")) == (terms, "why")
    assert dict(terms) == given
    changed = given | {"a": given.get("a", "") + "x"}
    assert Terms.of(changed).digest != terms.digest
    assert "now" in terms.changes(Terms.of(changed))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('unit = "patient"\nmax_rows_per_unit = 4', 'unit = "row"'),
        ("max_rows_per_unit = 4", "max_rows_per_unit = 40"),
        ("max_rows_per_unit = 4", "max_rows_per_unit = 4\nunits = 100"),
        ("[0, 120]", "[0, 60]"),
        ('"north", "south"', '"north"'),
        ("visits.csv", "other.csv"),
    ],
)
def test_whatever_a_charge_promises_is_part_of_the_terms(tmp_path: Path, old: str, new: str) -> None:
    """Unit, row limit, number of units, bounds, keys and source; another budget is refused as before."""
    with Dataset.parse(CONTRACT, ledger=tmp_path / "budget.db") as visits:
        assert visits.ledger.created
    with (
        Dataset.parse(CONTRACT.replace(old, new), ledger=tmp_path / "budget.db") as weaker,
        pytest.raises(LedgerConflict, match="charged under other terms"),
    ):
        _ = weaker.ledger


@pytest.mark.parametrize(("old", "new"), [("[0, 120]", "[0,120]"), ("[columns.age]", "# why\n[columns.age]")])
def test_what_says_the_same_is_no_change(tmp_path: Path, old: str, new: str) -> None:
    """Spaces, comments, and the order of columns."""
    with Dataset.parse(CONTRACT, ledger=tmp_path / "budget.db") as visits:
        digest = visits.terms.digest
        assert visits.ledger.verify().ok
    with Dataset.parse(CONTRACT.replace(old, new), ledger=tmp_path / "budget.db") as same:
        assert not same.ledger.created
        assert same.terms.digest == digest


def test_no_password_is_kept_in_the_terms() -> None:
    """A source in PostgreSQL is its server and its database."""
    source = "postgresql://ada:hunter2@db.example/clinic"
    contract = CONTRACT.replace('"visits.csv"', f'"{source}"\ntable = "visits"')
    assert Dataset.parse(contract).terms["source"] == "postgresql://db.example/clinic"


def test_a_changed_calendar_can_be_read() -> None:
    """Closed days and weekdays are kept as the contract has them, and so are those that take their place."""
    day = '[columns.day]\nbounds = "[2026-01-01, 2026-12-31]"\nweekdays = "Mon-Fri"\nclosed = ["2026-01-01", CLOSED]\n'
    contracts = [
        CONTRACT.replace("[budget]", day.replace("CLOSED", closed) + "[budget]")
        for closed in ('["2026-12-24", "2026-12-26"]', '"2026-05-01"')
    ]
    before, after = (Dataset.parse(contract).terms for contract in contracts)
    common = "[2026-01-01, 2026-12-31], weekdays Mon-Fri, closed 2026-01-01, "
    assert before.changes(after) == f"column day: {common}2026-12-24 to 2026-12-26, now {common}2026-05-01"


def test_a_long_list_of_keys_is_cut_to_what_a_line_holds() -> None:
    """And still tells other keys apart."""
    keys = [f"key {number}" for number in range(200)]
    contracts = [CONTRACT.replace('["north", "south"]', str(some)) for some in (keys, [*keys[:-1], "another"])]
    before, after = (Dataset.parse(contract).terms["column clinic"] for contract in contracts)
    assert before != after
    assert max(map(len, before.split())) < 48


def test_the_same_words_in_another_folder_are_another_source(tmp_path: Path) -> None:
    """A relative source is told from where the ledger is: another folder's table is refused, a moved whole is not."""
    for folder in ("clinic/north", "clinic/south"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "visits.toml").write_text(CONTRACT + 'ledger = "../budget.db"\n')
    with Dataset.load(tmp_path / "clinic/north/visits.toml") as north:
        assert north.ledger.created
        assert north.terms["source"] == "north/visits.csv"
    with (
        Dataset.load(tmp_path / "clinic/south/visits.toml") as south,
        pytest.raises(LedgerConflict, match=r"source: north/visits\.csv, now south/visits\.csv"),
    ):
        _ = south.ledger
    (tmp_path / "clinic").rename(tmp_path / "moved")
    with (
        Dataset.load(tmp_path / "moved/north/visits.toml") as north,
        Ledger.open(tmp_path / "moved/budget.db") as opened,
    ):
        assert not north.ledger.created
        assert Dataset.load(tmp_path / "moved/north/visits.toml", ledger=opened).terms == north.terms


@pytest.mark.parametrize("folder", ["plain", "passengers", "a@b", "tokens"])
def test_how_a_ledger_is_handed_over_is_no_part_of_the_terms(tmp_path: Path, folder: str) -> None:
    """By its path or opened, wherever it is: also where the path is not shown, lest it hold a password."""
    (tmp_path / folder).mkdir()
    (tmp_path / "visits.toml").write_text(CONTRACT)
    place = tmp_path / folder / "budget.db"
    with Ledger.open(place) as opened:
        terms = [Dataset.load(tmp_path / "visits.toml", ledger=given).terms for given in (place, str(place), opened)]
    assert [one["source"] for one in terms] == ["../visits.csv"] * 3


def test_a_relative_source_is_told_from_the_root_where_the_ledger_is_on_a_server(tmp_path: Path) -> None:
    """A server is in no folder, and neither is a ledger that was not named."""
    (tmp_path / "visits.toml").write_text(CONTRACT)
    terms = Dataset.load(tmp_path / "visits.toml", ledger="postgresql://ada@db.example/budget").terms
    assert terms["source"] == (tmp_path.resolve() / "visits.csv").as_posix()
    assert Dataset.load(tmp_path / "visits.toml").terms["source"] == "visits.csv"
