"""Keys that are not known beforehand: paid for once, published by the optimal selection, and written into the contract.

Every later question is asked with the keys of the contract, and is pure epsilon again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.exact.surroundings import sheltered
from inbounds.ledger.values.names import LONGEST_TEXT
from inbounds.query.ask.draw import draw_once
from inbounds.query.ask.key_selection import KeySelection
from inbounds.query.contract.contract import Contract
from inbounds.query.engines.engine import Engine, Kind
from inbounds.query.statement.expressions import Expression, column, compare, grouped, named, present, whole
from inbounds.query.tables.source import open_source
from inbounds.query.tables.table import MOST_KEYS, Table
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

    def section(self) -> str:
        """Return what to add to the contract: the column, with as many of its keys as a contract can hold."""
        keys = self.keys[:MOST_KEYS]
        cut = f", the first {MOST_KEYS} of {self.published}" if len(keys) < self.published else ""
        return (
            f"\n[columns.{json.dumps(self.column, ensure_ascii=False)}]\n"
            f"# discovered for epsilon {float(self.epsilon):g} and delta {float(self.delta):g}{cut}: request id "
            f"{self.request_id}\n"
            f"keys = {json.dumps(list(keys), ensure_ascii=False)}\n"
        )


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
    if name in dataset.table.columns or name == dataset.table.unit:
        raise InvalidQuestion(f"the contract already describes {shown(name)}; query it directly")
    ledger, engine = dataset.ledger, _open_engine(dataset, name)
    try:
        statement = _build_statement(engine, dataset.table, name, selection.limit)
        facts = (dataset.contract.text, name, str(selection.epsilon), str(selection.delta), str(selection.limit))
        receipt = ledger.charge(
            dataset.name,
            analyst,
            selection.epsilon,
            delta=selection.delta,
            request_id=request_id,
            fingerprint=sha256("\0".join(facts).encode()).hexdigest(),
            note=f"keys of {name}"[:1000],
            terms=dataset.terms,
        )
        text = draw_once(
            ledger,
            receipt,
            lambda: engine.run(statement),
            lambda rows: _write_record(_draw_keys(rows, selection, entropy)),
        )
    finally:
        engine.close()
    record = json.loads(text)
    keys = tuple(record["keys"])
    published = record.get("published", len(keys))
    return Discovered(name, keys, selection.epsilon, selection.delta, receipt.request_id, published)


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
    contract = dataset.contract
    text = f'{contract.text}\n[columns.{json.dumps(name, ensure_ascii=False)}]\nkeys = ["?"]\n'
    wider = Contract.parse(text, name=contract.name, folder=contract.folder, stem=contract.stem)
    engine = open_source(wider, Table.of(wider), **dataset.sources)
    kind = engine.kinds().get(name)
    if kind in KINDS:
        return engine
    engine.close()
    got = "has no such column" if kind is None else f"has {kind.value} there"
    raise InvalidQuestion(f"{shown(name)} must be a column of text, whole numbers or true/false; the table {got}")


def _build_statement(engine: Engine, table: Table, name: str, limit: int) -> str:
    """Return the statement that counts the units of each key; a unit counts for its first keys, so many at most.

    Texts are told apart by their bytes: of several that a collation holds for equal, one would be shown as the key of
    all, and it may be the text of one unit only.
    """
    key: Expression = column(name)
    conditions: list[Expression] = [present(key)]
    if engine.kinds()[name] is Kind.TEXT:
        conditions.append(compare(exp.Length(this=key.copy()), "<=", whole(LONGEST)))
        key = engine.bytes_of(key)
    count = named(exp.Count(this=exp.Star()), "n")
    if table.rows_are_units:
        select = exp.select(named(key, "k"), count).from_(engine.relation()).where(*conditions)
        return engine.dialect.render(grouped(select, 1))
    # The keys of each unit, each once; of these the first, so many; and how many units each of those has.
    unit = column(table.unit)
    pairs = (
        exp.select(named(unit, "u"), named(key, "k"))
        .from_(engine.relation())
        .where(present(unit), *conditions)
        .distinct()
    )
    order = exp.Order(expressions=[exp.Ordered(this=exp.column("k"), nulls_first=False)])
    place = exp.Window(this=exp.RowNumber(), partition_by=[exp.column("u")], order=order)
    ranked = exp.select("k", named(place, "r")).from_(pairs.subquery("d"))
    select = exp.select("k", count).from_(ranked.subquery("e")).where(compare(exp.column("r"), "<=", whole(limit)))
    return engine.dialect.render(grouped(select, 1))


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
