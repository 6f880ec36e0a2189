"""The columns of a table as a contract describes them: with bounds or keys, text, or made of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from inbounds.bounds import Bounds
from inbounds.bounds.times import UNITS
from inbounds.display.suggestion import suggest
from inbounds.errors import InboundsError, InvalidContract, InvalidQuestion, LatticeTooFine
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Keys, Numbers, refuse_column
from inbounds.query.columns.derived_column import derive
from inbounds.query.columns.identifier import UNIT, Identifier
from inbounds.query.columns.zone import refuse_zone
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import refuse_forms
from inbounds.query.contract.descriptions import DESCRIPTION
from inbounds.query.contract.hierarchy import with_parents
from inbounds.query.contract.listed_keys import read_keys
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.grammar.rows import read_expression

if TYPE_CHECKING:
    from inbounds.query.tables.public_table import PublicTable

MOST_ZONE_YEARS = 300
"""Every change of a clock within the bounds stands in a statement: two a year."""

FindByName = Callable[[str], Column]

COLUMN_KEYS = (
    "bounds", "keys", "keys_column", "keys_of", "text", "from", "weekdays", "closed", "date_format", "within", "map",
    "timezone", "duration", DESCRIPTION,
)  # fmt: skip

MOST_LISTED = 100
"""A column with bounds may have so many keys beside them: each is a test of every row that is grouped."""


def read_columns(contract: Contract, public: Mapping[str, PublicTable]) -> dict[str, Column]:
    """Read the columns that a contract describes; those that rows are only matched by are not among them."""
    raw = {*read_texts(contract), *read_references(contract, public)}
    names = [name for name in _described(contract) if name not in raw]
    columns = with_parents(contract, _columns(contract, names, public))
    refuse_forms(contract, columns)
    return columns


def read_key(contract: Contract) -> tuple[str, ...]:
    """Return the columns that tell the rows of a table apart, none if the contract does not say."""
    if not contract.has("dataset", "key"):
        return ()
    key = contract.value("dataset", "key")
    names = [key] if isinstance(key, str) else key
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise contract.refuse(
            f'key must be a column or a list of columns, got {shown(key)}; write it like key = "order"',
            "dataset",
            "key",
        )
    return tuple(names)


def read_texts(contract: Contract) -> list[str]:
    """Return the columns that hold free text."""
    texts = [name for name, column in _described(contract).items() if isinstance(column, Mapping) and "text" in column]
    for name in texts:
        path = ("columns", name)
        if contract.table(*path) != {"text": True}:
            raise contract.refuse(
                f"text = true says all there is to say of {name!r}; leave the rest out, or give keys instead", *path
            )
    return texts


def read_references(contract: Contract, public: Mapping[str, PublicTable]) -> dict[str, str]:
    """Return the columns that hold keys of a public table which are too many to be listed, and which table."""
    references = {}
    for name, column in _described(contract).items():
        path = ("columns", name)
        if not isinstance(column, Mapping) or "keys_of" not in column:
            continue
        if set(column) != {"keys_of"}:
            raise contract.refuse(f"keys_of says which keys {name!r} has; leave the rest out", *path)
        table = public.get(contract.text_of(*path, "keys_of"))
        if table is None or len(table.key) != 1:
            names = [other for other, given in public.items() if len(given.key) == 1] or ["none"]
            remedy = suggest(column["keys_of"], names, "known are")
            raise contract.refuse(
                f"keys_of must name a public table with one key, got {shown(column['keys_of'])}; {remedy}",
                *path,
                "keys_of",
            )
        if table.count == 0:
            raise contract.refuse(
                f"the public table {table.name!r} has no rows, so {name!r} would have no keys; fill that table, or "
                "list the keys here",
                *path,
                "keys_of",
            )
        if len(table.key_values) == 0:
            references[name] = table.name
    return references


def refuse_units(
    contract: Contract, units: Iterable[str], columns: Mapping[str, Column], identifiers: Mapping[str, Identifier]
) -> None:
    """Refuse columns that are called like a unit and hold none: a question could not tell one from the other."""
    for unit in units:
        if unit in columns:
            raise contract.refuse(f"the unit {unit!r} cannot be queried as a column; leave it out", "columns", unit)
        if unit in identifiers and identifiers[unit].domain != UNIT:
            where = ("columns", unit) if contract.has("columns", unit) else ("dataset", "key")
            raise contract.refuse(
                f"{unit!r} is the unit, and no other column can be called so; leave it out, or rename it in a view",
                *where,
            )


def _described(contract: Contract) -> Mapping[str, Any]:
    return contract.table("columns") if contract.has("columns") else {}


def _columns(contract: Contract, names: list[str], public: Mapping[str, PublicTable]) -> dict[str, Column]:
    """Return the columns of a contract; those made of others once these are known."""
    columns: dict[str, Column | None] = {}  # None while a column is being read: then its `from` comes back to it

    def find(name: str) -> Column:
        """Return a column that a `from` names, which may be made of others."""
        if not contract.has("columns", name):
            remedy = suggest(name, contract.table("columns"), "it has")
            raise InvalidQuestion(f"the contract has no column {shown(name)}; {remedy}")
        if name in columns and columns[name] is None:
            raise InvalidQuestion(f"{name} is derived from itself; derive it from other columns")
        if columns.get(name) is None:
            columns[name] = None
            columns[name] = _column(contract, name, find, public)
        column = columns[name]
        assert column is not None
        return column

    return {name: find(name) for name in names}


def _derived_column(contract: Contract, name: str, find: FindByName) -> Column:
    """Return a column that a contract makes of others."""
    path = ("columns", name, "from")
    text = contract.text_of(*path)
    others = [key for key in contract.table(*path[:2]) if key != "from"]
    if others:
        raise contract.refuse(f"column {name!r} is derived, so its {others[0]} follows; leave it out", *path)

    def resolve(node: Node) -> Column:
        return find(node.name) if isinstance(node, ColumnRef) else derive(node, resolve)

    try:
        return derive(read_expression(text).node, resolve, name)
    except InvalidContract:
        raise
    except InboundsError as problem:
        raise contract.refuse(f"from of {name!r}: {problem}", *path) from None


def _column(contract: Contract, name: str, find: FindByName, public: Mapping[str, PublicTable]) -> Column:
    path = ("columns", name)
    contract.refuse_unknown(COLUMN_KEYS, *path)
    table = contract.table(*path)
    if "from" in table:
        return _derived_column(contract, name, find)
    if "keys_of" in table:
        return Keys(name, public[contract.text_of(*path, "keys_of")].key_values)
    if "bounds" not in table and "keys" not in table:
        raise contract.refuse(
            f"column {name!r} needs either bounds or keys, or both, got neither; give one of them, or make it of other "
            'columns, such as from = "MONTH(day)"',
            *path,
        )
    if "bounds" not in table:
        for key in ("timezone", "duration"):
            if key in table:
                raise contract.refuse(f"{key} goes with bounds, but column {name!r} has keys; leave it out", *path, key)
        return Keys(name, read_keys(contract, name))
    bounds = _bounds(contract, name, table)
    numbers = Numbers(name, bounds, zone=_zone(contract, name, bounds), duration=_duration(contract, name, bounds))
    try:
        problem = refuse_column(numbers)
    except LatticeTooFine as too_fine:
        problem = str(too_fine)
    if problem is not None:
        raise contract.refuse(problem, *path, "bounds")
    return _with_listed(contract, numbers) if "keys" in table else numbers


def _zone(contract: Contract, name: str, bounds: Bounds) -> str | None:
    """Return the time zone whose clock a column is read by, if the contract says one."""
    path = ("columns", name, "timezone")
    if not contract.has(*path):
        return None
    zone = contract.text_of(*path)
    if bounds.values not in ("time", "day"):
        raise contract.refuse(
            f"timezone needs bounds that are times or dates, got {bounds.brief()}; leave it out, or write bounds like "
            "'[2026-01-01 00:00, 2026-12-31 23:59:59] step 1s'",
            *path,
        )
    if (problem := refuse_zone(zone)) is not None:
        raise contract.refuse(problem, *path)
    low, high = bounds.low, bounds.high
    if isinstance(low, date) and isinstance(high, date) and high.year - low.year > MOST_ZONE_YEARS:
        raise contract.refuse(
            f"bounds with a timezone must span at most {MOST_ZONE_YEARS} years, got {bounds.brief()}; narrow them",
            *path[:2],
            "bounds",
        )
    return zone


def _duration(contract: Contract, name: str, bounds: Bounds) -> str | None:
    """Return the unit that the intervals of a column are counted in, if the contract says one."""
    path = ("columns", name, "duration")
    if not contract.has(*path):
        return None
    unit = contract.text_of(*path)
    if unit not in UNITS or bounds.values != "number":
        raise contract.refuse(
            f"duration must be one of {', '.join(UNITS)}, beside bounds of numbers in that unit, got {shown(unit)} and "
            f"{bounds.brief()}; write duration = \"min\" and bounds like '[0, 600] step 1'",
            *path,
        )
    return unit


def _with_listed(contract: Contract, numbers: Numbers) -> Numbers:
    """Return a column with bounds and the keys that it is grouped by."""
    keys, path = read_keys(contract, numbers.name), ("columns", numbers.name, "keys")
    listed = tuple(key for key in keys if type(key) is int)
    if len(listed) < len(keys) or not numbers.kind.adds_up:
        raise contract.refuse(
            f"keys beside bounds must be whole numbers within them, got {shown(list(keys))}; leave one of the two out",
            *path,
        )
    if len(keys) > MOST_LISTED:
        raise contract.refuse(
            f"keys beside bounds must be at most {MOST_LISTED}, got {len(keys)}; leave keys out: up to 1,000 possible "
            "values are groups without being listed",
            *path,
        )
    odd = next((key for key in keys if numbers.exact(str(key)) is None), None)
    if odd is not None:
        raise contract.refuse(
            f"keys beside bounds must be possible values, and {odd} is not in {numbers.bounds.brief()}; leave it out, "
            "or widen the bounds",
            *path,
        )
    return replace(numbers, listed=listed)


def _bounds(contract: Contract, name: str, table: Mapping[str, Any]) -> Bounds:
    path = ("columns", name)
    text = contract.text_of(*path, "bounds")
    try:
        bounds = Bounds.parse(text)
        if "weekdays" not in table and "closed" not in table:
            return bounds
        if not bounds.is_dates or len(bounds) != 1 or not bounds.bounded:
            raise contract.refuse(
                f"weekdays and closed need bounds that are dates, got {bounds.brief()}; leave them out, or write "
                "bounds like '[2026-01-01, 2026-12-31]'",
                *path,
            )
        closed = table.get("closed", [])
        if not isinstance(closed, list):
            raise contract.refuse(
                f"closed must be a list of days, and pairs of a first and a last day, got {shown(closed)}; "
                "put it in [ ]",
                *path,
                "closed",
            )
        closed = [tuple(day) if isinstance(day, list) else day for day in closed]
        return Bounds.dates(bounds.low, bounds.high, weekdays=table.get("weekdays"), closed=closed)  # type: ignore[arg-type]
    except InvalidContract:
        raise
    except InboundsError as problem:
        raise contract.refuse(f"bounds of {name!r}: {problem}", *path, "bounds") from None
