"""What comes of trying a contract, as a page shows it: the check, what bounds cut, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from inbounds.ledger.values.address import is_address
from inbounds.query import Inspection
from inbounds.query.contract.places import hide_password
from inbounds.query.custodian.text import format_share, inspection_text
from inbounds.server.pages.parts.contract_changes import Change, OtherChange
from inbounds.server.pages.pictures.bars import Bar, Picture, Row, per_cent
from inbounds.server.service.service import Service
from inbounds.server.state.open_datasets import Holding

BEYOND = {"below": "below, raised to the bound", "above": "above, lowered to the bound", "gaps": "in gaps, kept"}
"""Where values can be, and what becomes of them."""


def check_text(inspection: Inspection, contract: str) -> str:
    """Return the text of a check without its frame, for the page has one of its own."""
    lines = inspection_text(inspection, contract).splitlines()
    return "\n".join(line for line in lines if not line.startswith("##")).strip()


def needs_attention(inspection: Inspection) -> bool:
    """Return whether a check warns of something, so that its text is to be open."""
    tables = (inspection, *inspection.others)
    return not inspection.is_readable or any(
        table.misfits or table.hardly_read or table.hardly_keys or (table.key is not None and table.key.repeated)
        for table in tables
    )


def bounds_picture(inspection: Inspection) -> Picture | None:
    """Return how many values are outside the bounds of their columns; None if none is."""
    rows = tuple(_beyond_bounds(inspection))
    if not rows:
        return None
    drawn = {kind for row in rows for bar in row.bars for kind, _ in bar.parts}
    return Picture(
        "Values outside the bounds of their column",
        tuple((kind, words) for kind, words in BEYOND.items() if kind in drawn),
        "Share of the values of each column that are outside its bounds; the full check has the figures",
        rows,
        " %",
    )


def _beyond_bounds(inspection: Inspection) -> Iterator[Row]:
    for table in (inspection, *inspection.others):
        for figures in table.numbers:
            values = table.rows - figures.missing
            beyond = {"below": figures.below, "above": figures.above, "gaps": figures.in_gaps or 0}
            name = figures.column if table is inspection else f"{table.table}.{figures.column}"
            if any(beyond.values()):
                parts = tuple((kind, per_cent(count, values)) for kind, count in beyond.items() if count)
                yield Row(name, (Bar(parts, format_share(sum(beyond.values()), values)),))


def changes_budget(others: Sequence[OtherChange]) -> bool:
    """Return whether a ledger would refuse the budget of a contract: any other than it has, but for a first delta."""
    budget = {change.term: change for change in others if change.term.startswith("budget: ")}
    delta = budget.get("budget: delta")
    if delta is not None and delta.before is None:
        budget = {term: change for term, change in budget.items() if "delta" not in term}
    return bool(budget)


def next_steps(
    service: Service, holding: Holding, changes: Sequence[Change], others: Sequence[OtherChange]
) -> Iterator[tuple[str, str]]:
    """Yield what to do in the folder of the contract, once the file is in its place, and what to type for it."""
    contract = holding.dataset.contract
    file, ledger = quote(contract.name), quote(_find_ledger(service.file.ledger, contract.folder))
    record = f'--dataset {file} --ledger {ledger} --reason "…"'
    yield "In its folder, check it against the table, on a terminal:", f"inbounds check {file}"
    if any(change.term == "budget: delta" for change in others):
        yield "Record the first delta, with your reason:", f"inbounds budget delta {record}"
    if changes:
        yield (
            "Record the change, with your reason. Until the server has restarted, queries are then refused, and cost "
            "nothing:",
            f"inbounds budget contract {record}",
        )


def _find_ledger(ledger: str, folder: Path) -> str:
    """Return where the ledger is, from the folder of a contract; of an address, no password."""
    if is_address(ledger):
        return hide_password(ledger)
    return Path(os.path.relpath(Path(ledger).resolve(), folder)).as_posix()
