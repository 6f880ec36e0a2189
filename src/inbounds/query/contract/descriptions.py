"""What a contract says of its tables and columns in words, for whoever reads them: part of no claim, and of no term.

[dataset]
description = "Every visit to one of our clinics"
[columns.finding]
description = "The main finding, as the doctor coded it"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from inbounds.query.contract.contract import Contract

DESCRIPTION = "description"

LONGEST = 500
"""So many characters has a description: it stands in a table."""


@dataclass(frozen=True)
class Descriptions:
    """The words for one table."""

    table: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """By the names of columns; those without words are not there."""

    @property
    def is_empty(self) -> bool:
        """Whether the contract says nothing of this table or its columns."""
        return self.table is None and not self.columns


def read_descriptions(contract: Contract) -> Descriptions:
    """Read the words for one table of a contract and its columns."""
    columns = contract.table("columns") if contract.has_table("columns") else {}
    named = [name for name in columns if contract.has("columns", name, DESCRIPTION)]
    return Descriptions(
        _read(contract, "dataset", DESCRIPTION) if contract.has("dataset", DESCRIPTION) else None,
        {name: _read(contract, "columns", name, DESCRIPTION) for name in named},
    )


def _read(contract: Contract, *path: str) -> str:
    """Return a description on one line."""
    text = " ".join(contract.text_of(*path).split())
    if len(text) > LONGEST:
        raise contract.refuse(
            f"a description may have at most {LONGEST} characters, got {len(text)}; shorten it", *path
        )
    if not text.isprintable():
        raise contract.refuse("a description must be plain text, got control characters; remove them", *path)
    return text


def without_descriptions(contract: Contract) -> Contract:
    """Return a contract as whatever else reads it sees it: words decide nothing."""
    return replace(contract, content=_strip(contract.content, ()))


def _strip(content: Mapping[str, Any], at: tuple[str, ...]) -> dict[str, Any]:
    """Return a part of a contract without descriptions, where these can be: a column may be called so too."""
    described = at == ("dataset",) or (len(at) == 2 and at[0] in ("columns", "tables"))
    described = described or (len(at) == 4 and at[0] == "tables" and at[2] == "columns")
    return {
        name: _strip(value, (*at, name)) if isinstance(value, Mapping) else value
        for name, value in content.items()
        if not (described and name == DESCRIPTION and not isinstance(value, Mapping))
    }
