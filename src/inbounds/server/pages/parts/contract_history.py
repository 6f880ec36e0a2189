"""The versions of a contract that the ledger has, and what changed between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from inbounds.ledger.values.entry import Entry
from inbounds.ledger.values.terms import Terms
from inbounds.server.pages.parts.contract_changes import Change, changes_between


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
        changes = () if before is None else changes_between(before, terms)
        versions.append(Version(entry.seq, entry.time, entry.fingerprint, reason, dict(terms), changes))
    return versions[::-1]
