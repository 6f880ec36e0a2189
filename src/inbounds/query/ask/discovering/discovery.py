"""Keys that are not known beforehand: paid for once, published by the optimal selection, and written into the contract.

Every later question is asked with the keys of the contract, and is pure epsilon again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.exact.surroundings import sheltered
from inbounds.ledger.values.names import LONGEST_TEXT
from inbounds.query.ask.charging import charge, refuse_expensive
from inbounds.query.ask.discovering.key_selection import KeySelection
from inbounds.query.ask.draw import draw_once
from inbounds.query.columns.column import Keys
from inbounds.query.contract.contract_change import header_of, write_section
from inbounds.query.contract.listed_keys import MOST_FOUND
from inbounds.query.engines.engine import Engine, Kind, describe_type
from inbounds.query.statement.expressions import (
    Expression,
    column,
    compare,
    grouped,
    named,
    present,
    raw_name,
    whole,
)
from inbounds.query.statement.relations import TableReader
from inbounds.query.statement.wanted import Wanted
from inbounds.query.tables.source import open_source
from inbounds.query.tables.table import Table
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from inbounds.query.dataset import Dataset

KINDS = (Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN)
"""What can be a key."""

LONGEST = 200
"""Texts that are longer are no keys."""

MOST_PER_UNIT = 100
"""A unit may count for so many keys: the more, the less each counts."""


@dataclass(frozen=True)
class Discovered:
    """Keys that were published, in their order, and what they cost."""

    column: str
    keys: tuple[Any, ...]
    epsilon: Fraction
    delta: Fraction
    request_id: str
    """Asking again with it returns these keys, free of charge."""
    published: int
    """How many keys were published; a ledger can keep at least 39,000 of them, the first ones."""
    table: str | None = None
    """Which table of the contract the column is of, if not the one of [dataset]."""

    @property
    def path(self) -> tuple[str, ...]:
        """Where the column stands in the contract."""
        within = () if self.table is None else ("tables", self.table)
        return (*within, "columns", self.column)

    @property
    def reason(self) -> str:
        """Why the terms of the contract have changed, for the record."""
        return f"keys of {self.column} were discovered, request {self.request_id}"

    def section(self) -> str:
        """Return what to add to the contract: the column, with as many of its keys as a contract can hold."""
        keys = self.keys[:MOST_FOUND]
        cut = f", the first {MOST_FOUND} of {self.published}" if len(keys) < self.published else ""
        return (
            f"\n{header_of(*self.path)}\n"
            f"# discovered for epsilon {float(self.epsilon):g} and delta {float(self.delta):g}{cut}: request id "
            f"{self.request_id}\n"
            f"keys = {json.dumps(list(keys), ensure_ascii=False)}\n"
        )

    def write_into(self, text: str) -> str:
        """Return the text of the contract with this section; without any keys, as it is."""
        if not self.keys:
            return text
        return write_section(text, self.section(), list(self.keys[:MOST_FOUND]), *self.path, "keys")


@sheltered()
def discover(  # noqa: PLR0913  what is asked, at which cost, by whom
    dataset: Dataset,
    name: str,
    epsilon: Any,
    delta: Any,
    *,
    analyst: str,
    keys_per_unit: int = 1,
    request_id: str | None = None,
    entropy: Entropy = system,
) -> Discovered:
    """Publish the keys of a column that enough units have; charges (epsilon, delta) first."""
    # Whatever can be refused is refused before the charge; after it, what goes wrong is for `draw_once` to keep.
    selection = KeySelection(
        as_written(epsilon, "epsilon", InvalidParameter),
        as_written(delta, "delta", InvalidParameter),
        _check_limit(dataset.table, keys_per_unit),
    )
    _ = selection.certain  # which refuses an epsilon that is too small
    table = dataset.table
    if table.relation is not None:
        raise InvalidQuestion(
            "keys belong to a column of a table of the contract, got a table made of tables; discover them on the "
            "dataset, or on rows_of(…)"
        )
    if name in table.columns or name in table.identifiers or name == table.unit:
        raise InvalidQuestion(f"the contract already describes {shown(name)}; query it directly")
    within = None if table.is_main else table.name
    probe = Discovered(name, ("?",), selection.epsilon, selection.delta, "", 1, within)
    probe.write_into(dataset.contract.text)  # which refuses what could not be written afterwards
    refuse_expensive(dataset, selection.epsilon, request_id)
    engine = _open_engine(dataset, name)
    try:
        rows = _OwnedKeys(dataset, engine, name)
        statement, runner = rows.build_statement(selection.limit), rows.runner
        facts = [dataset.contract.text, name, str(selection.epsilon), str(selection.delta), str(selection.limit)]
        facts += [] if within is None else [within]
        receipt = charge(
            dataset,
            analyst,
            selection.epsilon,
            delta=selection.delta,
            request_id=request_id,
            fingerprint=sha256("\0".join(facts).encode()).hexdigest(),
            note=f"keys of {name}"[:1000],
        )
        text = draw_once(
            dataset.ledger,
            receipt,
            lambda: runner.run(statement),
            lambda rows: _write_record(_draw_keys(rows, selection, entropy)),
        )
    finally:
        engine.close()
    record = json.loads(text)
    keys = tuple(record["keys"])
    published = record.get("published", len(keys))
    return Discovered(name, keys, selection.epsilon, selection.delta, receipt.request_id, published, within)


def _draw_keys(rows: list[Any], selection: KeySelection, entropy: Entropy) -> list[Any]:
    """Return the keys that are drawn to be published, in their order."""
    units_by_key = [(_read_key(value), int(units)) for value, units in rows]
    return sorted(key for key, units in units_by_key if _fits(key) and selection.publishes(units, entropy))


def _write_record(keys: list[Any]) -> str:
    """Write what a ledger keeps: the first keys, as many as it has room for, and how many were published.

    How many are published depends on data, so none of them may be too many.
    """
    room = LONGEST_TEXT - len(json.dumps({"published": len(keys), "keys": []}))
    ends = accumulate(len(json.dumps(key, ensure_ascii=False)) + len(", ") for key in keys)
    fitting = sum(end <= room for end in ends)
    record = {"keys": keys[:fitting], **({"published": len(keys)} if fitting < len(keys) else {})}
    return json.dumps(record, ensure_ascii=False)


def _check_limit(table: Table, keys_per_unit: object) -> int:
    if type(keys_per_unit) is not int or not 1 <= keys_per_unit <= MOST_PER_UNIT:
        raise InvalidParameter(
            f"keys_per_unit must be a whole number from 1 to {MOST_PER_UNIT}, got {shown(keys_per_unit)}; give 1 if in "
            "doubt"
        )
    if table.rows_are_units and keys_per_unit > 1:
        raise InvalidParameter("each row is a unit with one category, got more per unit; leave keys_per_unit out")
    return keys_per_unit


def _open_engine(dataset: Dataset, name: str) -> Engine:
    """Open the source once more, with the column in it: files without types are read by what the contract names."""
    table = dataset.table
    wider = replace(table, columns={**table.columns, name: Keys(name, ("?",))})
    if table.is_main:
        engine = open_source(dataset.contract, wider, **dataset.sources)
    else:
        dataset.engine_of(table.name)  # which refuses a table that is elsewhere
        engine = open_source(dataset.contract.part("tables", table.name), wider, spark=dataset.sources["spark"])
    kind = engine.kinds().get(name)
    if kind in KINDS:
        return engine
    engine.close()
    got = "has no such column" if kind is None else f"has {describe_type(engine.kinds(), name)} there"
    raise InvalidQuestion(f"{shown(name)} must be a column of text, whole numbers or true/false; the table {got}")


@dataclass(frozen=True)
class _OwnedKeys:
    """The keys of a column, and the units that have them: those that its rows name, or belong to."""

    dataset: Dataset
    engine: Engine
    """What reads the table with the column in it."""
    name: str

    @property
    def table(self) -> Table:
        return self.dataset.table

    @property
    def runner(self) -> Engine:
        """What runs the statement: of rows that belong to others, the engine that reads all the tables on the way."""
        is_alone = self.table.is_main or self.table.parent is None
        return self.engine if is_alone else self.dataset.engine

    def build_statement(self, limit: int) -> str:
        """Return the statement that counts the units of each key; a unit counts for its first keys, `limit` at most.

        Texts are told apart by their bytes: of several that a collation holds for equal, one would be shown as the key
        of all, and it may be the text of one unit only; and units that were taken for one would change each other's
        keys.
        """
        count = named(exp.Count(this=exp.Star()), "n")
        if self.table.rows_are_units:
            key, *conditions = self._key(column(self.name))
            select = exp.select(named(key, "k"), count).from_(self.engine.relation()).where(*conditions)
            return self.runner.dialect.render(grouped(select, 1))
        # The keys of each unit, each once; of these the first, so many; and how many units each of those has.
        pairs = self._pairs()
        order = exp.Order(expressions=[exp.Ordered(this=exp.column("k"), nulls_first=False)])
        place = exp.Window(this=exp.RowNumber(), partition_by=[exp.column("u")], order=order)
        ranked = exp.select("k", named(place, "r")).from_(pairs.subquery("d"))
        select = exp.select("k", count).from_(ranked.subquery("e")).where(compare(exp.column("r"), "<=", whole(limit)))
        return self.runner.dialect.render(grouped(select, 1))

    def _pairs(self) -> exp.Select:
        """Return each unit with each of its keys, once."""
        table, unit = self.table, column(self.table.unit)
        if table.parent is None:
            rows, kind = self.engine.relation(), self.engine.kinds().get(table.unit)
        else:
            rows, kind = self._owned_rows()
        key, *conditions = self._key(column(self.name if table.parent is None else raw_name(self.name)))
        conditions.append(present(unit))
        if kind is Kind.TEXT:
            unit = (self.engine if table.parent is None else self.runner.dialect).bytes_of(unit)
        return exp.select(named(unit, "u"), named(key, "k")).from_(rows).where(*conditions).distinct()

    def _owned_rows(self) -> tuple[Expression, Kind | None]:
        """Return the rows of a table that belong to others, with the units that own them, and what these are."""
        table, above = self.table, self.table.parent
        engines = {table.name: self.engine}
        while above is not None:
            engines[above.table.name], above = self.dataset.engine_of(above.table.name), above.table.parent
        reader = TableReader(engines, self.runner.dialect)
        select = reader.select(table, Wanted(raws=frozenset({self.name})))
        return select.subquery("o", copy=False), reader.unit_kind(table)

    def _key(self, key: Expression) -> list[Expression]:
        """Return a key as it is told apart from others, and what it must be like."""
        if self.engine.kinds()[self.name] is not Kind.TEXT:
            return [key, present(key)]
        return [self.engine.bytes_of(key), present(key), compare(exp.Length(this=key.copy()), "<=", whole(LONGEST))]


def _read_key(value: object) -> object:
    """Return a key as it is written: where texts are compared by their bytes, an engine may return these."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:  # a database that checks no text; what cannot be read is no key
        return None


def _fits(key: object) -> bool:
    """Return whether a contract can hold a key."""
    if isinstance(key, str):
        return "\0" not in key and len(key) <= LONGEST and key.isprintable()
    return isinstance(key, bool) or (isinstance(key, int) and abs(key) < 2**63)
