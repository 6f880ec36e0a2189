"""What differs between two versions of a contract, and what that means for privacy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inbounds.query.contract.toml_text import write_value

MEANINGS = {
    "unit": "The unit of privacy has changed. Earlier answers protect a different unit.",
    "max_rows_per_unit": "The contribution bound has changed. A higher bound means more noise.",
    "source": "Queries now read another table. For people in both tables, the privacy losses of both budgets add up.",
    "column": "The possible values have changed. Bounds taken from the data would reveal something about people.",
    "belongs": "Whose rows these are has changed. Earlier answers protect others in their place.",
    "key": "What tells rows apart has changed. Joins rely on it.",
    "delimiter": "The file is read differently: other rows may count, and for other people.",
    "encoding": "The file is read differently: other rows may count, and for other people.",
    "public": "What is treated as public has changed. Public information is not protected.",
}
"""What a change of a term means, by how its name begins; of another table's, by what follows the table's name."""


@dataclass(frozen=True)
class Change:
    """One term that changed."""

    term: str
    before: str | None
    after: str | None

    @property
    def meaning(self) -> str:
        """What it means for privacy."""
        name = self.term.rpartition(": ")[2] if self.term.startswith("table ") else self.term
        return MEANINGS.get(name.partition(" ")[0], "")


BUDGET = (
    "The ledger keeps the budget that it was opened with, and a server with another one does not start. Write the "
    "present value, and grant more or less on the page of the dataset."
)
READ = "The file is read differently: check how many values are missing now."

OTHER_MEANINGS = {
    "total": BUDGET,
    "per_analyst": BUDGET,
    "delta": f"{BUDGET} A first delta is recorded with inbounds budget delta.",
    "delta_reserved": BUDGET,
    "decimal": READ,
    "thousands": READ,
    "date_format": READ,
    "tick": "Answers leave at other times. The tick should be longer than the statements take.",
    "practice": "It says whether the rows are made up. Answers are marked so.",
    "description": "These are words for readers. No promise depends on them.",
}
"""What a change means of what is no term, by its key."""


class OtherChange(Change):
    """Something that changed and is no term: the ledger does not record it."""

    @property
    def meaning(self) -> str:
        """What it means."""
        return OTHER_MEANINGS[self.term.rpartition(": ")[2]]


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    """Return the terms that differ."""
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        Change(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def other_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[OtherChange, ...]:
    """Return what differs between two contracts beside their terms."""
    old, new = (dict(_others(content)) for content in (before, after))
    names = (name for name in old | new if old.get(name) != new.get(name))
    return tuple(OtherChange(name, _write(old.get(name)), _write(new.get(name))) for name in names)


def _write(value: Any) -> str | None:
    return None if value is None else write_value(value)


def _others(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a contract says beside its terms: of its budget, its tables and their columns."""
    yield from _keys("budget: ", content.get("budget"))
    yield from _keys("", content.get("dataset"))
    yield from _of_columns("", content.get("columns"))
    tables = content.get("tables")
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        yield from _keys(f"table {name}: ", table)
        yield from _of_columns(f"table {name}: ", table.get("columns") if isinstance(table, Mapping) else None)


def _of_columns(whose: str, columns: object) -> Iterator[tuple[str, Any]]:
    for name, column in columns.items() if isinstance(columns, Mapping) else ():
        yield from _keys(f"{whose}column {name}: ", column)


def _keys(whose: str, said: object) -> Iterator[tuple[str, Any]]:
    for key, value in said.items() if isinstance(said, Mapping) else ():
        if key in OTHER_MEANINGS and not isinstance(value, Mapping):
            yield f"{whose}{key}", value
