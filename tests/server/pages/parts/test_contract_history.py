"""The history of a contract: what changed from one version to the next, and what that means."""

from __future__ import annotations

from pathlib import Path

import pytest

from inbounds.ledger import Ledger
from inbounds.server.pages.parts.contract_changes import MEANINGS, Change
from inbounds.server.pages.parts.contract_history import history

FIRST = {"unit": "patient", "max_rows_per_unit": "2", "column age": "[0, 110] step 1", "source": "a.parquet"}


def test_versions_tell_what_changed(tmp_path: Path) -> None:
    """The newest version is first, and lists each term that is new, gone or different, and no other."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.open_dataset("visits", "10", terms=FIRST)
        later = {**FIRST, "max_rows_per_unit": "3", "column ward": "keys 1, 2"}
        del later["source"]
        ledger.change_terms("visits", later, "more rows")
        new, old = history(ledger.statement("visits").entries)
    assert (old.terms, old.changes, old.reason) == (FIRST, (), "")
    assert (new.terms, new.reason) == (later, "more rows")
    assert {change.term: (change.before, change.after) for change in new.changes} == {
        "max_rows_per_unit": ("2", "3"),
        "column ward": (None, "keys 1, 2"),
        "source": ("a.parquet", None),
    }


@pytest.mark.parametrize(
    ("term", "meant"),
    [
        ("unit", "unit"),
        ("max_rows_per_unit", "max_rows_per_unit"),
        ("source", "source"),
        ("column age", "column"),
        ("column unit", "column"),
        ("column source of income", "column"),
        ("table drugs: unit", "unit"),
        ("table drugs: max_rows_per_unit", "max_rows_per_unit"),
        ("table drugs: column public", "column"),
        ("public table wards", "public"),
        ("public table wards: column beds", "public"),
    ],
)
def test_a_change_means_what_its_term_is(term: str, meant: str) -> None:
    """What is said of a change is about its own term, whatever other words are in a name."""
    assert Change(term, "a", "b").meaning == MEANINGS[meant]


def test_of_other_terms_nothing_is_said() -> None:
    """A term without a meaning for privacy has none."""
    assert Change("units", "1", "2").meaning == ""
