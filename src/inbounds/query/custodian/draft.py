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
        given = schema.table.rpartition(".")[2] if schema.table else PurePath(schema.source).name.partition(".")[0]
        return re.sub(r"\W+", "_", given).strip("_") or "data"

    @property
    def candidates(self) -> tuple[str, ...]:
        """The columns that may tell whose row it is, by what they are called."""
        return tuple(name for name, kind in self.schema.columns.items() if kind in UNITS and looks_like_id(name))

    def __str__(self) -> str:
        parts = (self._about(), self._dataset(), self._columns(), self._budget())
        return "\n".join(line for part in parts for line in (*part, "")).rstrip("\n") + "\n"

    def _about(self) -> Iterator[str]:
        looked = (
            "no row was looked at" if self.schema.shape is None else "rows were looked at only for how they are written"
        )
        yield from _comment(
            f"A draft of a contract, from the names and types of the columns alone: {looked}. It is "
            f'refused, line by line, until you have decided what is marked "{TO_DECIDE[2:]}". Decide from what '
            "everybody may know (the form, the law, opening hours), not from what the table holds: whatever stands "
            "here is public. Then `inbounds check` shows you, and nobody else, what your decisions do to the table."
        )

    def _dataset(self) -> Iterator[str]:
        yield "[dataset]"
        yield f"name = {quoted(self.name)}  # what it is called in SQL"
        if self.schema.has_password:
            yield from _comment("The password was left out: a contract is public. PGPASSWORD or ~/.pgpass keeps it.")
        yield f"source = {quoted(self.schema.source)}"
        for key, value in (("table", self.schema.table), ("delimiter", self.schema.delimiter)):
            if value is not None:
                yield f"{key} = {quoted(value)}"
        yield from self._form()
        yield from self._unit()
        yield from _comment(
            "How many rows of a unit count in full? More of them are weighed down to so many. Fewer means less noise. "
            'Leave it out with unit = "row".'
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
                yield f"{key} = {quoted(value)}  # by the shape of the first lines: is it so?"
        if shape.unclear:
            named = ", ".join(map(quoted, shape.unclear))
            yield from _comment(f"Not clear from the first lines (decimal, thousands or date_format): {named}.")

    def _unit(self) -> Iterator[str]:
        named = ", ".join(quoted(name) for name in self.candidates)
        by_name = f"By its name it may be {named}." if named else "By its name, no column is."
        yield from _comment(
            f'Which column tells whose row it is? Or "row", if each row is a different person. {by_name}'
        )
        yield f'unit = ""  {TO_DECIDE}'

    def _columns(self) -> Iterator[str]:
        yield from _comment(
            "What can be asked about. Leave out a column that nobody needs. Bounds are the least and the greatest "
            'possible value, with a step if values have one ("[0, 110] step 1", "[0, 500] step 0.01", '
            '"[2026-01-01, 2026-12-31]"). Keys are public categories (["north", "south"]); codes that are whole '
            "numbers can be keys, too ([1, 2, 3])."
        )
        if None in self.schema.columns.values():
            yield from _comment(
                "A csv file has no types: say for each column which of the two it has. The names are its first line; "
                "if that is a row and no header, show this to nobody, and give the file a header first."
            )
        for name, kind in self.schema.columns.items():
            yield from self._column(name, kind)

    def _column(self, name: str, kind: Kind | None) -> Iterator[str]:
        header = f"[columns.{name if BARE.fullmatch(name) else quoted(name)}]"
        held = "" if kind is None else f"{kind.value}"
        yield ""
        if name in self.candidates:
            yield f"# {header}  # {held and f'{held}; '}left out: by its name it may be the unit"
        elif kind is None:
            yield f"{header}  {TO_DECIDE}"
            yield '# bounds = "[?, ?]"'
            yield "# keys = []"
            shape = self.schema.shape
            if shape is not None and shape.date_format is None and name in shape.date_formats:
                how = quoted(shape.date_formats[name])
                yield f"date_format = {how}  # by the shape of the first lines: is it so?"
        elif kind is Kind.BOOLEAN:
            yield f"{header}  # {held}"
            yield "keys = [true, false]"
        elif kind is Kind.TEXT or kind in NUMBERS:
            yield f"{header}  # {held}"
            yield f"{NUMBERS.get(kind, 'keys = []')}  {TO_DECIDE}"
        else:
            yield f"# {header}  # {held}; left out: this cannot be asked about"

    def _budget(self) -> Iterator[str]:
        yield "[budget]"
        yield from _comment(
            "What may everybody together learn about one unit, ever? Recommended is an epsilon of "
            f"{RECOMMENDED_TOTAL}. And each analyst? Leave that out if it is the same."
        )
        yield f"total = 0  {TO_DECIDE}"
        yield f"per_analyst = 0  {TO_DECIDE}"


def looks_like_id(name: str) -> bool:
    """Return whether a column may tell people apart, by what it is called."""
    return _LIKE_ID.fullmatch(_CAPITAL.sub("_", name).strip("_").lower()) is not None


def quoted(text: str) -> str:
    """Write a text as TOML has it: on one line, and printable, whatever it holds."""
    return "".join(one if one.isprintable() else _escaped(one) for one in json.dumps(text, ensure_ascii=False))


def _escaped(one: str) -> str:
    return f"\\u{ord(one):04x}" if ord(one) < 0x10000 else f"\\U{ord(one):08x}"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)]
