"""A list of entries, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.display.table import Column, TextTable
from inbounds.exact.amount import UNIT, delta_fraction, format_amount, format_delta, fraction
from inbounds.ledger.values.entry import LATER, Entry
from inbounds.ledger.values.restore_record import RestoreRecord
from inbounds.ledger.values.terms import Terms

_COLUMNS = (
    Column("seq"),
    Column("time (UTC)", left=True),
    Column("kind", left=True),
    Column("dataset", left=True),
    Column("analyst", left=True),
    Column("epsilon"),
)


@dataclass(frozen=True)
class Statement:
    """Entries of a ledger in their order: all, or those about one dataset or one analyst."""

    entries: Sequence[Entry]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def spent(self) -> Fraction:
        """The sum of the charges, in epsilon."""
        return fraction(sum(self._charges().values()))

    @property
    def spent_by(self) -> dict[tuple[str, str], Fraction]:
        """The sum of the charges for each dataset and analyst, in epsilon."""
        return {account: fraction(units) for account, units in self._charges().items()}

    @property
    def spent_rho(self) -> Fraction:
        """The sum of what the charges counted in rho when they were made; of datasets without a delta, 0."""
        return fraction(sum(entry.rho or 0 for entry in self.entries if entry.kind == "charge"))

    @property
    def spent_delta(self) -> Fraction:
        """The sum of the deltas that charges had of their own."""
        return delta_fraction(sum(entry.delta or 0 for entry in self.entries if entry.kind == "charge"))

    def _charges(self) -> dict[tuple[str, str], int]:
        sums: dict[tuple[str, str], int] = {}
        for entry in self.entries:
            if entry.kind == "charge":
                account = entry.dataset, entry.analyst
                sums[account] = sums.get(account, 0) + entry.amount
        return sums

    def data(self) -> list[dict[str, Any]]:
        """Return every field of every entry as plain data, amounts in epsilon as decimal text."""
        return [entry.data() for entry in self.entries]

    def __str__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> TextTable:
        later = [name for name in ("rho", "delta") if any(getattr(entry, name) is not None for entry in self.entries)]
        sums = [
            ["", "spent by", "", dataset, analyst, format_amount(units), *[""] * len(later)]
            for (dataset, analyst), units in sorted(self._charges().items())
        ]
        charges = sum(entry.kind == "charge" for entry in self.entries)
        spent = format_amount(sum(self._charges().values()))
        total = f"{charges} charge{'' if charges == 1 else 's'}, {spent} spent in total"
        if "rho" in later:
            total += f", {format_amount(int(self.spent_rho * UNIT))} in rho"
        notes = [note for entry in self.entries if (note := _note(entry))]
        rows = [[*_cells(entry), *(_later(entry, name) for name in later)] for entry in self.entries]
        return TextTable((*_COLUMNS, *map(Column, later)), [*rows, *sums], notes=[*notes, total])


def _later(entry: Entry, name: str) -> str:
    value = getattr(entry, name)
    return "" if value is None else LATER[name](value)


def _cells(entry: Entry) -> list[str]:
    moment = entry.time[:19].replace("T", " ")
    amount = "" if entry.kind in {"answer", "contract", "delta", "restore"} else format_amount(entry.amount)
    analyst = f"each {format_amount(entry.per_analyst)}" if entry.per_analyst is not None else entry.analyst
    return [str(entry.seq), moment, entry.kind, entry.dataset, analyst, amount]


def _note(entry: Entry) -> str:
    """Say what the table has no room for: the terms of a contract, why more was granted, what of delta is reserved."""
    if entry.kind == "open" and entry.reserved:
        return _reserve_note(entry)
    if entry.kind == "delta":
        return "; ".join(
            [f"delta of entry {entry.seq}: {entry.text}", *([_reserve_note(entry)] if entry.reserved else [])]
        )
    if entry.kind == "contract":
        return _contract(entry)
    if entry.kind == "restore":
        return _restore(entry)
    return f"grant of entry {entry.seq}: {entry.text}" if entry.kind == "grant" and entry.text else ""


def _reserve_note(entry: Entry) -> str:
    reserved = format_delta(entry.reserved or 0)
    return f"{entry.dataset}: {reserved} of its delta is reserved for charges that have one"


def _restore(entry: Entry) -> str:
    """Say that entries may be lost before this one, and who accepted that."""
    record = RestoreRecord.load(entry.text)
    text = "a record that cannot be read" if record is None else str(record)
    return f"restore of entry {entry.seq}, {entry.dataset}: {text}"


def _contract(entry: Entry) -> str:
    """Say what a contract promises from an entry on, and why it was changed."""
    loaded = Terms.load(entry.text)
    if loaded is None:
        return f"entry {entry.seq}: terms of {entry.dataset} that cannot be read"
    terms, reason = loaded
    why = f" (changed: {reason})" if reason else ""
    return f"contract of {entry.dataset} from entry {entry.seq} on{why}: {terms}"
