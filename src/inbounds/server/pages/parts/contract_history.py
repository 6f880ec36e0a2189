"""The versions of a contract that the ledger has, what changed between them, and what that means for privacy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from inbounds.ledger.values.entry import Entry
from inbounds.ledger.values.terms import Terms

MEANINGS = {
    "unit": "The unit of privacy has changed. Earlier answers protect a different unit.",
    "max_rows_per_unit": "The contribution bound has changed. A higher bound means more noise.",
    "source": "Queries now read another table. For people in both tables, the privacy losses of both budgets add up.",
    "column": "The possible values have changed. Bounds taken from the data would reveal something about people.",
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


@dataclass(frozen=True)
class Version:
    """A contract as it was from an entry of the ledger on."""

    entry: int
    time: str
    digest: str
    reason: str
    terms: Mapping[str, str]
    changes: tuple[Change, ...]


def history(entries: Iterable[Entry]) -> list[Version]:
    """Return the versions of a contract, the newest first."""
    versions: list[Version] = []
    for entry in entries:
        recorded = Terms.load(entry.text) if entry.kind == "contract" else None
        if recorded is None:
            continue
        terms, reason = recorded
        before = versions[-1].terms if versions else None
        changes = () if before is None else _changes(before, terms)
        versions.append(Version(entry.seq, entry.time, entry.fingerprint, reason, dict(terms), changes))
    return versions[::-1]


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    names = [*before, *(name for name in after if name not in before)]
    return tuple(
        Change(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )
