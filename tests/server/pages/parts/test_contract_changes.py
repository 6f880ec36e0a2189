"""What differs between two contracts: terms, and what the ledger does not record; each with what it means."""

from __future__ import annotations

from typing import Any

import pytest

from inbounds.query.tables.contract_columns import COLUMN_KEYS
from inbounds.query.tables.contract_tables import DATASET_KEYS
from inbounds.server.pages.parts.contract_changes import OTHER_MEANINGS, changes_between, other_changes

BEFORE: dict[str, Any] = {
    "dataset": {"name": "visits", "tick": 1, "description": "Visits", "unit": "patient"},
    "columns": {"age": {"bounds": "[0, 110]", "description": "In years"}, "description": {"bounds": "[0, 1]"}},
    "tables": {"drugs": {"decimal": ",", "columns": {"at": {"date_format": "%d.%m.%Y"}}}},
    "budget": {"total": 5.0, "per_analyst": 3},
}


def test_terms_that_differ_are_told() -> None:
    """Terms that are new, gone or different are told, in the order of the first contract, and no other."""
    before, after = {"a": "1", "b": "2", "c": "3"}, {"c": "4", "b": "2", "d": "5"}
    found = [(change.term, change.before, change.after) for change in changes_between(before, after)]
    assert found == [("a", "1", None), ("c", "3", "4"), ("d", None, "5")]


def test_what_is_no_term_is_told_where_it_stands() -> None:
    """Budgets, ticks, words and forms that differ are told with their table and column, as TOML has them."""
    after = {
        "dataset": {"name": "visits", "tick": 2, "unit": "household"},
        "columns": {"age": {"bounds": "[0, 90]", "description": "In full years"}, "description": {"bounds": "[0, 2]"}},
        "tables": {"drugs": {"decimal": ".", "columns": {"at": {"date_format": "%m/%d/%Y"}}}},
        "budget": {"total": 6, "per_analyst": 3.0, "delta": 1e-6},
    }
    assert {change.term: (change.before, change.after) for change in other_changes(BEFORE, after)} == {
        "budget: total": ("5.0", "6"),
        "budget: delta": (None, "1e-06"),
        "tick": ("1", "2"),
        "description": ('"Visits"', None),
        "column age: description": ('"In years"', '"In full years"'),
        "table drugs: decimal": ('","', '"."'),
        "table drugs: column at: date_format": ('"%d.%m.%Y"', '"%m/%d/%Y"'),
    }


def test_the_same_contract_has_no_difference() -> None:
    """A contract and itself, and numbers that are written otherwise, do not differ; nor does what is no contract."""
    assert other_changes(BEFORE, BEFORE) == ()
    assert other_changes(BEFORE, {**BEFORE, "budget": {"total": 5, "per_analyst": 3.0}}) == ()
    assert other_changes({"budget": 1, "tables": [], "columns": {"a": 1}}, {}) == ()


@pytest.mark.parametrize("key", OTHER_MEANINGS)
def test_every_other_change_means_something(key: str) -> None:
    """Whatever is told to differ beside the terms is told with what it means."""
    (change,) = other_changes({}, {"dataset": {key: "a"}})
    assert change.meaning == OTHER_MEANINGS[key]
    assert change.meaning.endswith(".")


def test_every_key_is_a_term_or_told_beside_them() -> None:
    """Of the keys of tables and columns, those that no term tells are told by themselves."""
    of_terms = {
        "name", "source", "table", "delimiter", "encoding", "unit", "key", "whole", "belongs_to", "on", "units",
        "max_rows_per_unit", "today", "bounds", "keys", "keys_column", "keys_of", "text", "from", "weekdays", "closed",
        "within", "map", "timezone", "duration",
    }  # fmt: skip
    assert {*DATASET_KEYS, *COLUMN_KEYS} == of_terms | (set(OTHER_MEANINGS) & {*DATASET_KEYS, *COLUMN_KEYS})
