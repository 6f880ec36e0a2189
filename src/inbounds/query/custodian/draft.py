"""A draft of a contract: made of the names and types of a table's columns alone, with what is to be decided left open.

Nothing of the rows enters it, not even how many there are.  What is open is written so that a contract with it is
refused, by its line (docs/decisions/0046-drafts-and-checks.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from textwrap import wrap
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.privacy.claim import RECOMMENDED_TOTAL
from inbounds.query.contract.faults import TO_DECIDE
from inbounds.query.custodian.schema import Schema
from inbounds.query.engines.engine import Kind, describe_type
from inbounds.query.tables.column_types import OF_NESTED
from inbounds.query.tables.table import ROW

WIDTH = 78

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A name that TOML takes without quotes."""

NUMBERS = {
    Kind.INTEGER: 'bounds = "[?, ?] step 1"',
    Kind.DECIMAL: 'bounds = "[?, ?]"',
    Kind.WIDE_DECIMAL: 'bounds = "[?, ?]"',
    Kind.FLOAT: 'bounds = "[?, ?]"',
    Kind.DATE: 'bounds = "[?, ?]"',
    Kind.TIMESTAMP: 'bounds = "[?, ?] step 1s"',
    Kind.INSTANT: 'bounds = "[?, ?] step 1s"',
    Kind.INTERVAL: 'bounds = "[?, ?] step 1"',
}
MORE = {
    Kind.INSTANT: 'timezone = "?"',
    Kind.INTERVAL: 'duration = "?"',
}
"""What else is to be decided: whose clock is read, and the unit of durations."""

UNITS = (None, Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL, Kind.UUID)
"""What a unit can be; None where a file has no types."""

_ID = "id|ids|uid|uuid|guid|pid|ssn|email|login"
_NUMBER = f"{_ID}|nr|no|number|key|code|hash|account"
_SOMEBODY = (
    "patient|person|user|customer|client|member|subject|participant|respondent|student|pupil|employee|worker|citizen|"
    "resident|household|family|visitor|passenger|driver|owner|tenant|donor|voter|account"
)
_LIKE_SOMEBODY = re.compile(rf"(.*_)?({_SOMEBODY})(_?({_NUMBER}))?")
_LIKE_ID = re.compile(rf"(.*_)?({_ID})|{_LIKE_SOMEBODY.pattern}")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")


@dataclass(frozen=True)
class Draft:
    """The text of a contract, as far as it follows from the names and types of a table."""

    schema: Schema
    unit: str | None = None
    """The column that tells whose rows they are, or "row", if the custodian has said so."""

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit != ROW and self.schema.columns.get(self.unit, Kind.OTHER) not in UNITS:
            raise InvalidParameter(
                f"a unit must be a column of whole numbers or text, or 'row', got {shown(self.unit)}; the table has "
                f"{', '.join(self.schema.columns)}"
            )

    @property
    def name(self) -> str:
        """A name for the dataset: that of the table, or of the file."""
        schema = self.schema
        label = schema.table.rpartition(".")[2] if schema.table else PurePath(schema.source).name.partition(".")[0]
        return re.sub(r"\W+", "_", label).strip("_") or "data"

    @property
    def candidates(self) -> tuple[str, ...]:
        """The columns that may tell whose row it is, by what they are called."""
        return tuple(name for name, kind in self.schema.columns.items() if kind in UNITS and looks_like_id(name))

    @property
    def scope(self) -> str:
        """What it was made of."""
        read = "no row was read" if self.schema.shape is None else "the first lines were read"
        return f"{len(self.schema.columns)} columns; {read}"

    def facts(self) -> list[tuple[str, str]]:
        """Return what is to be known before it is edited."""
        names = ", ".join(self.candidates)
        guess = f"possibly {names}, judging by the name" if names else "no column name looks like an id"
        return [("unit", guess if self.unit is None else self.unit)]

    def data(self) -> dict[str, Any]:
        """Return what it was made of, as JSON has it."""
        return {"columns": name_kinds(self.schema), "unit_candidates": self.candidates}

    def __str__(self) -> str:
        effort = "no row was read" if self.schema.shape is None else "rows were read only to see how they are written"
        parts = (describe_draft(effort), self._dataset(), self._columns(), draft_budget())
        return write_parts(parts)

    def _dataset(self) -> Iterator[str]:
        yield "[dataset]"
        yield f"name = {quote(self.name)}  # its name in SQL"
        yield from draft_source(self.schema)
        yield from self._unit()
        yield from write_comment(
            "How many rows may one unit contribute at most? Rows beyond the limit are down-weighted. A lower limit "
            'means less noise. Leave it out with unit = "row".'
        )
        yield f"max_rows_per_unit = 0  {TO_DECIDE}"

    def _unit(self) -> Iterator[str]:
        if self.unit is not None:
            yield f"unit = {quote(self.unit)}  # whose privacy is protected"
            return
        names = ", ".join(quote(name) for name in self.candidates)
        by_name = f"Judging by the name, it may be {names}." if names else "No column name looks like an identifier."
        yield from write_comment(
            'Which column identifies the person each row belongs to? Write "row" if each row is a different person. '
            f"{by_name}"
        )
        yield f'unit = ""  {TO_DECIDE}'

    def _columns(self) -> Iterator[str]:
        yield from explain_columns(has_types=None not in self.schema.columns.values())
        for name, kind in self.schema.columns.items():
            why = "it is the unit" if name == self.unit else "its name suggests the unit"
            is_left = name == self.unit if self.unit is not None else name in self.candidates
            yield from draft_column(self.schema, name, kind, why if is_left else None)


def name_kinds(schema: Schema) -> dict[str, str | None]:
    """Return what each column of a table holds, in words."""
    return {
        name: None if kind is None else describe_type(schema.columns, name) for name, kind in schema.columns.items()
    }


def write_parts(parts: Iterable[Iterable[str]]) -> str:
    """Return the text of a contract, with an empty line between its parts."""
    return "\n".join(line for part in parts for line in (*part, "")).rstrip("\n") + "\n"


def describe_draft(effort: str) -> Iterator[str]:
    """Yield what stands above a draft."""
    yield from write_comment(
        f"A draft of a contract, based on the column names and types alone: {effort}. It is refused, line by line, "
        f'until you have edited every line marked "{TO_DECIDE[2:]}". Base your decisions on public knowledge (the '
        "form, the law, opening hours), not on what the table holds: everything written here is public. Then "
        "`inbounds check` shows you, and nobody else, how the contract affects the table."
    )


def draft_source(schema: Schema) -> Iterator[str]:
    """Yield where a table is, and how its fields seem to be written, if that was looked at."""
    if (place := schema.password_place) is not None:
        yield from write_comment(f"The password was left out because a contract is public. Keep it in {place}.")
    yield f"source = {quote(schema.source)}"
    for key, value in (("table", schema.table), ("delimiter", schema.delimiter)):
        if value is not None:
            yield f"{key} = {quote(value)}"
    shape = schema.shape
    if shape is None:
        return
    keys = {"decimal": shape.decimal, "thousands": shape.thousands, "date_format": shape.date_format}
    for key, value in (keys | {"encoding": shape.encoding}).items():
        if value is not None:
            yield f"{key} = {quote(value)}  # guessed from the first lines: please check"
    if shape.unclear:
        names = ", ".join(map(quote, shape.unclear))
        yield from write_comment(f"Unclear from the first lines (decimal, thousands or date_format): {names}.")


def explain_columns(*, has_types: bool) -> Iterator[str]:
    """Yield what is to be decided of columns."""
    yield from write_comment(
        "The columns that can be queried. Leave out those that nobody needs. Bounds are the smallest and the "
        'largest possible value, with a step if the values have one ("[0, 110] step 1", "[0, 500] step 0.01", '
        '"[2026-01-01, 2026-12-31]", "[2026-01-01 00:00, 2026-12-31 23:59:59] step 1s"). Keys are the public '
        'categories (["north", "south"]); whole-number codes can '
        "be categories too ([1, 2, 3])."
    )
    if not has_types:
        yield from write_comment(
            "A csv file has no types: choose bounds or keys for each column. The names come from the first line; "
            "if that line is a row and not a header, show this to nobody, and give the file a header first."
        )


def draft_column(
    schema: Schema, name: str, kind: Kind | None, left_out: str | None, within: str = "columns"
) -> Iterator[str]:
    """Yield the section of a column; one that is left out, and why, is a comment."""
    header = f"[{within}.{write_name(name)}]"
    type_name = "" if kind is None else describe_type(schema.columns, name)
    yield ""
    if left_out is not None:
        yield from write_remark(f"# {header}", f"{type_name and f'{type_name}; '}left out: {left_out}")
    elif kind is None:
        yield f"{header}  {TO_DECIDE}"
        yield '# bounds = "[?, ?]"'
        yield "# keys = []"
        shape = schema.shape
        if shape is not None and shape.date_format is None and name in shape.date_formats:
            how = quote(shape.date_formats[name])
            yield f"date_format = {how}  # guessed from the first lines: please check"
    elif kind is Kind.BOOLEAN:
        yield from write_remark(header, type_name)
        yield "keys = [true, false]"
    elif kind is Kind.TIME:
        yield from write_remark(header, type_name)
        yield 'bounds = "[00:00, 23:59:59] step 1s"'
    elif kind is Kind.TEXT or kind in NUMBERS:
        yield from write_remark(header, type_name)
        yield f"{NUMBERS.get(kind, 'keys = []')}  {TO_DECIDE}"
        if kind in MORE:
            yield f"{MORE[kind]}  {TO_DECIDE}"
    else:
        remedy = OF_NESTED.get(kind, "convert it first")
        yield from write_remark(f"# {header}", f"cannot be queried: {type_name}; {remedy}")


def draft_budget() -> Iterator[str]:
    """Yield the section of the budget."""
    yield "[budget]"
    yield from write_comment(
        "The privacy budget (epsilon) of all analysts together, for the lifetime of the data; recommended: "
        f"{RECOMMENDED_TOTAL}. Leave out per_analyst if each analyst may spend all of it."
    )
    yield f"total = 0  {TO_DECIDE}"
    yield f"per_analyst = 0  {TO_DECIDE}"


def looks_like_id(name: str) -> bool:
    """Return whether a column may tell people apart, by what it is called."""
    return _LIKE_ID.fullmatch(split_words(name)) is not None


def looks_like_somebody(name: str) -> bool:
    """Return whether a name may be that of a person, or of what tells one apart."""
    return _LIKE_SOMEBODY.fullmatch(split_words(name)) is not None


def split_words(name: str) -> str:
    """Return a name in small letters, with an underscore between its words."""
    return _CAPITAL.sub("_", name).strip("_").lower()


def write_name(name: str) -> str:
    """Write a name as a key of TOML."""
    return name if BARE.fullmatch(name) else quote(name)


def quote(text: str) -> str:
    """Write a text as TOML has it: on one line, and printable, whatever it holds."""
    return "".join(
        character if character.isprintable() else _escape(character)
        for character in json.dumps(text, ensure_ascii=False)
    )


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def write_remark(line: str, remark: str) -> list[str]:
    """Write a line with a remark behind it, or above it where that would be too wide."""
    together = f"{line}  # {remark}"
    return [together] if len(together) <= WIDTH + 2 else [*write_comment(remark), line]


def write_comment(text: str) -> list[str]:
    """Write a text as comments."""
    return [f"# {line}" for line in wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)]
