"""A draft of a contract: made of the names and types of a table's columns alone, with what is to be decided left open.

Nothing of the rows enters it, not even how many there are.  What is open is written so that a contract with it is
refused, by its line (docs/decisions/0046-drafts-and-checks.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from textwrap import wrap

from inbounds.privacy.claim import RECOMMENDED_TOTAL
from inbounds.query.custodian.schema import Schema
from inbounds.query.engines.engine import Kind

TO_DECIDE = "# decide"

WIDTH = 78

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A name that TOML takes without quotes."""

NUMBERS = {
    Kind.INTEGER: 'bounds = "[?, ?] step 1"',
    Kind.DECIMAL: 'bounds = "[?, ?]"',
    Kind.WIDE_DECIMAL: 'bounds = "[?, ?]"',
    Kind.FLOAT: 'bounds = "[?, ?]"',
    Kind.DATE: 'bounds = "[?, ?]"',
    Kind.TIMESTAMP: 'bounds = "[?, ?]"',
}
UNITS = (None, Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL, Kind.UUID)
"""What a unit can be; None where a file has no types."""

_ID = "id|ids|uid|uuid|guid|pid|ssn|email|login"
_NUMBER = f"{_ID}|nr|no|number|key|code|hash|account"
_SOMEBODY = (
    "patient|person|user|customer|client|member|subject|participant|respondent|student|pupil|employee|worker|citizen|"
    "resident|household|family|visitor|passenger|driver|owner|tenant|donor|voter|account"
)
_LIKE_ID = re.compile(rf"(.*_)?({_ID})|(.*_)?({_SOMEBODY})(_?({_NUMBER}))?")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")


@dataclass(frozen=True)
class Draft:
    """The text of a contract, as far as it follows from the names and types of a table."""

    schema: Schema

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

    def __str__(self) -> str:
        parts = (self._about(), self._dataset(), self._columns(), self._budget())
        return "\n".join(line for part in parts for line in (*part, "")).rstrip("\n") + "\n"

    def _about(self) -> Iterator[str]:
        effort = "no row was read" if self.schema.shape is None else "rows were read only to see how they are written"
        yield from _comment(
            f"A draft of a contract, based on the column names and types alone: {effort}. It is refused, line by line, "
            f'until you have edited every line marked "{TO_DECIDE[2:]}". Base your decisions on public knowledge (the '
            "form, the law, opening hours), not on what the table holds: everything written here is public. Then "
            "`inbounds check` shows you, and nobody else, how the contract affects the table."
        )

    def _dataset(self) -> Iterator[str]:
        yield "[dataset]"
        yield f"name = {quote(self.name)}  # its name in SQL"
        if self.schema.has_password:
            yield from _comment(
                "The password was left out because a contract is public. Keep it in PGPASSWORD or ~/.pgpass."
            )
        yield f"source = {quote(self.schema.source)}"
        for key, value in (("table", self.schema.table), ("delimiter", self.schema.delimiter)):
            if value is not None:
                yield f"{key} = {quote(value)}"
        yield from self._form()
        yield from self._unit()
        yield from _comment(
            "How many rows may one unit contribute at most? Rows beyond the limit are down-weighted. A lower limit "
            'means less noise. Leave it out with unit = "row".'
        )
        yield f"max_rows_per_unit = 0  {TO_DECIDE}"

    def _form(self) -> Iterator[str]:
        """Yield how fields seem to be written, if that was looked at."""
        shape = self.schema.shape
        if shape is None:
            return
        keys = {"decimal": shape.decimal, "thousands": shape.thousands, "date_format": shape.date_format}
        for key, value in (keys | {"encoding": shape.encoding}).items():
            if value is not None:
                yield f"{key} = {quote(value)}  # guessed from the first lines: please check"
        if shape.unclear:
            names = ", ".join(map(quote, shape.unclear))
            yield from _comment(f"Unclear from the first lines (decimal, thousands or date_format): {names}.")

    def _unit(self) -> Iterator[str]:
        names = ", ".join(quote(name) for name in self.candidates)
        by_name = f"Judging by the name, it may be {names}." if names else "No column name looks like an identifier."
        yield from _comment(
            'Which column identifies the person each row belongs to? Write "row" if each row is a different person. '
            f"{by_name}"
        )
        yield f'unit = ""  {TO_DECIDE}'

    def _columns(self) -> Iterator[str]:
        yield from _comment(
            "The columns that can be queried. Leave out those that nobody needs. Bounds are the smallest and the "
            'largest possible value, with a step if the values have one ("[0, 110] step 1", "[0, 500] step 0.01", '
            '"[2026-01-01, 2026-12-31]"). Keys are the public categories (["north", "south"]); whole-number codes can '
            "be categories too ([1, 2, 3])."
        )
        if None in self.schema.columns.values():
            yield from _comment(
                "A csv file has no types: choose bounds or keys for each column. The names come from the first line; "
                "if that line is a row and not a header, show this to nobody, and give the file a header first."
            )
        for name, kind in self.schema.columns.items():
            yield from self._column(name, kind)

    def _column(self, name: str, kind: Kind | None) -> Iterator[str]:
        header = f"[columns.{name if BARE.fullmatch(name) else quote(name)}]"
        type_name = "" if kind is None else f"{kind.value}"
        yield ""
        if name in self.candidates:
            yield f"# {header}  # {type_name and f'{type_name}; '}left out: its name suggests the unit"
        elif kind is None:
            yield f"{header}  {TO_DECIDE}"
            yield '# bounds = "[?, ?]"'
            yield "# keys = []"
            shape = self.schema.shape
            if shape is not None and shape.date_format is None and name in shape.date_formats:
                how = quote(shape.date_formats[name])
                yield f"date_format = {how}  # guessed from the first lines: please check"
        elif kind is Kind.BOOLEAN:
            yield f"{header}  # {type_name}"
            yield "keys = [true, false]"
        elif kind is Kind.TEXT or kind in NUMBERS:
            yield f"{header}  # {type_name}"
            yield f"{NUMBERS.get(kind, 'keys = []')}  {TO_DECIDE}"
        else:
            yield f"# {header}  # unsupported type ({type_name}): cannot be queried"

    def _budget(self) -> Iterator[str]:
        yield "[budget]"
        yield from _comment(
            "The privacy budget (epsilon) of all analysts together, for the lifetime of the data; recommended: "
            f"{RECOMMENDED_TOTAL}. Leave out per_analyst if each analyst may spend all of it."
        )
        yield f"total = 0  {TO_DECIDE}"
        yield f"per_analyst = 0  {TO_DECIDE}"


def looks_like_id(name: str) -> bool:
    """Return whether a column may tell people apart, by what it is called."""
    return _LIKE_ID.fullmatch(_CAPITAL.sub("_", name).strip("_").lower()) is not None


def quote(text: str) -> str:
    """Write a text as TOML has it: on one line, and printable, whatever it holds."""
    return "".join(
        character if character.isprintable() else _escape(character)
        for character in json.dumps(text, ensure_ascii=False)
    )


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)]
