"""The tables of a contract: the one of [dataset], other private ones of the same units, and public ones.

    [tables.orders]
    source = "orders.parquet"
    unit = "customer"
    key = "order"
    [tables.lines]
    source = "lines.parquet"
    belongs_to = "orders"               # a line is of the customer whose order it is
    on = { order_no = "order" }
    [tables.lines.columns.price]
    bounds = "[0, 500] step 0.01"

They share the units, the budget and the account in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any

from inbounds.display.dataset_listing import list_tables
from inbounds.display.listing import Listing
from inbounds.display.suggestion import suggest
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.ledger.values.names import check_name
from inbounds.query.columns.column import Column, Numbers
from inbounds.query.columns.identifier import Identifier
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.count_facts import refuse_contradictions
from inbounds.query.contract.csv_format import FORM_KEYS
from inbounds.query.contract.descriptions import DESCRIPTION, Descriptions, read_descriptions, without_descriptions
from inbounds.query.contract.public_counts import Known
from inbounds.query.expressions.node import quote_name
from inbounds.query.tables.contract_columns import read_columns, read_key, read_references, read_texts, refuse_units
from inbounds.query.tables.public_source import read_public_table
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.source import refuse_shared
from inbounds.query.tables.table import MOST_LIMIT, ROW, Parent, Table

MOST_DEPTH = 8
"""Rows may belong to rows so many times over."""

DATASET_KEYS = (
    "name", "source", "table", *FORM_KEYS, "unit", "key", "whole", "belongs_to", "on", "max_rows_per_unit", "units",
    "tick", "today", "practice", DESCRIPTION,
)  # fmt: skip
OTHER_KEYS = (*(key for key in DATASET_KEYS if key not in ("name", "units", "tick", "today", "practice")), "public")


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """What can stand after FROM."""

    main: Table
    others: Mapping[str, Table] = field(default_factory=dict)
    """The other private tables, by name."""
    public: Mapping[str, PublicTable] = field(default_factory=dict)
    is_practice: bool = False
    """Whether the contract says that the rows are made up."""
    descriptions: Mapping[str, Descriptions] = field(default_factory=dict)
    """What the contract says in words, by the names of tables."""

    @classmethod
    def of(cls, contract: Contract, spark: Any = None) -> Tables:
        """Read the tables that a contract describes; public ones are looked at."""
        contract.refuse_unknown(("dataset", "columns", "tables", "budget", "known"))
        contract.refuse_unknown(DATASET_KEYS, "dataset")
        reader = _Reader(contract, spark)
        words = {name: read_descriptions(part) for name, part in reader.described.items()}
        return replace(reader.read(), descriptions={name: said for name, said in words.items() if not said.is_empty})

    def words_of(self, table: str) -> Descriptions:
        """Return what the contract says of a table and its columns in words."""
        return self.descriptions.get(table, Descriptions())

    @property
    def private(self) -> dict[str, Table]:
        """All private tables, by name."""
        return {self.main.name: self.main, **self.others}

    def close(self) -> None:
        """Close what reads the public tables."""
        for public in self.public.values():
            if public.engine is not None:
                public.engine.close()

    @property
    def overview(self) -> Listing:
        """The tables, for people: whose privacy is protected, and by what rows of a public table are matched."""
        private = [
            (name, "private", "each row" if table.rows_are_units else table.unit, str(table.limit), "")
            for name, table in self.private.items()
        ]
        public = [(name, "public", "", "", ", ".join(table.key)) for name, table in self.public.items()]
        return list_tables((*private, *public), {name: said.table for name, said in self.descriptions.items()})

    def __repr__(self) -> str:
        return repr(self.overview)

    def _repr_html_(self) -> str:
        return self.overview._repr_html_()

    def why_not(self, name: object) -> str:
        """Say why no table of this name can be asked."""
        if isinstance(name, str) and name in self.public:
            return (
                f"{name} is public, so there is nothing to protect; ask the database itself, free, or join {name} to a "
                "private table"
            )
        remedy = suggest(name, (*self.private, *self.public), "the contract has", write=quote_name)
        return f"there is no table {shown(name)}; {remedy}"


class _Reader:
    """Reads the tables of a contract, each after those that it belongs to."""

    def __init__(self, contract: Contract, spark: Any) -> None:
        names = list(contract.table("tables")) if contract.has("tables") else []
        self.described = {contract.text_of("dataset", "name"): contract}
        self.described |= {name: contract.part("tables", name) for name in names}
        self.contract = contract = without_descriptions(contract)
        self.main = _check_text(contract, contract.text_of("dataset", "name"), "name", "dataset", "name")
        self._refuse_alike(names)
        self.parts = {self.main: contract, **{name: self._part(name) for name in names}}
        public = [name for name, part in self.parts.items() if name != self.main and part.has("dataset", "public")]
        refuse_shared(self.parts, public)
        self.public = {name: read_public_table(self.parts[name], name, spark) for name in public}
        self.tables: dict[str, Table] = {}

    def _refuse_alike(self, names: list[str]) -> None:
        """Refuse names that SQL does not tell apart: FROM order and FROM ORDER are the same table."""
        seen = {self.main.casefold(): self.main}
        for name in names:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                raise self.contract.refuse(
                    f"the names of tables must differ in more than upper and lower case, got {shown(name)} beside "
                    f"{shown(other)}; give this one another name",
                    "tables",
                    name,
                )

    def _part(self, name: str) -> Contract:
        _check_text(self.contract, name, "the name of a table", "tables", name)
        if name == self.main:
            raise self.contract.refuse(
                f"{name!r} is the table of [dataset]; give this one another name", "tables", name
            )
        part = self.contract.part("tables", name)
        part.refuse_unknown(("dataset", "columns", "on", *(() if part.has("dataset", "public") else ("known",))))
        if not part.has("dataset", "public"):  # before anything that a misspelt key would make look wrong elsewhere
            part.refuse_unknown(OTHER_KEYS, "dataset")
        return part

    def read(self) -> Tables:
        main = self._table(self.main, ())
        others = {name: self._table(name, ()) for name in self.parts if name not in (self.main, *self.public)}
        return Tables(main, others, self.public, self._is_practice)

    @property
    def _is_practice(self) -> bool:
        """Whether the rows are made up, as the contract says."""
        said = self.contract.has("dataset", "practice")
        if said and self.contract.value("dataset", "practice") is not True:
            raise self.contract.refuse(
                "practice must be true; write that for made-up rows, or leave it out", "dataset", "practice"
            )
        return said

    def _table(self, name: str, children: tuple[str, ...]) -> Table:
        """Return a private table; `children` are those that it is needed for."""
        if name not in self.tables:
            self.tables[name] = self._build(name, self.parts[name], (*children, name))
        return self.tables[name]

    def _build(self, name: str, part: Contract, path: tuple[str, ...]) -> Table:
        is_main = name == self.main
        parent = self._parent(part, path)
        unit = self._unit(part, parent, is_main)
        if not is_main and self._main_unit == ROW:
            raise self.contract.refuse(
                f'with unit = "row" no row of {name!r} would belong to a row of {self.main!r}; name the column that '
                "tells whose rows they are, or say public = true",
                "tables",
                name,
            )
        key = read_key(part)
        if parent is None and is_main and not part.has("columns") and not key:
            part.table("columns")  # which is refused
        columns = read_columns(part, self.public)
        self._refuse_clipped(part, columns, parent)
        identifiers = self._identifiers(name, part, columns, parent)
        named = [own for own in dict.fromkeys((unit, self._main_unit)) if own != ROW]
        refuse_units(part, named, columns, identifiers)
        units = part.whole_of("dataset", "units") if part.has("dataset", "units") else None
        limit = self._limit(part, unit, is_main)
        known = Known.of(part, columns, limit, rows_are_units=unit == ROW)
        if is_main:
            refuse_contradictions(part, columns, known, units if unit == ROW else None)
        return Table(
            name,
            ROW if unit == ROW else unit,
            limit,
            columns,
            units,
            known,
            is_main=is_main,
            identifiers=identifiers,
            key=key,
            parent=parent,
            whole=self._whole(part, identifiers, unit if parent is None else ROW),
            said_today=self._today,
        )

    @cached_property
    def _today(self) -> date | None:
        """The day that CURRENT_DATE stands for, until the contract says another."""
        if not self.contract.has("dataset", "today"):
            return None
        day = self.contract.value("dataset", "today")
        with suppress(ValueError):
            day = date.fromisoformat(day) if isinstance(day, str) else day
        if type(day) is not date:
            raise self.contract.refuse(
                f'today must be a date, got {shown(day)}; write it like "2026-12-31"', "dataset", "today"
            )
        return day

    def _whole(self, part: Contract, identifiers: Mapping[str, Identifier], unit: str) -> frozenset[str]:
        """Return the identifiers that hold whole numbers: as the contract says, or as the public table has its keys."""
        given = part.value("dataset", "whole") if part.has("dataset", "whole") else []
        possible = {*(name for name, one in identifiers.items() if not one.is_text), *({unit} - {ROW})}
        if not isinstance(given, list) or not set(map(str, given)) <= possible:
            known = ", ".join(sorted(possible)) or "none"
            raise part.refuse(
                f"whole must list identifiers that hold whole numbers, got {shown(given)}; possible are {known}",
                "dataset",
                "whole",
            )
        of_public = {
            name
            for name, one in identifiers.items()
            if one.keys_of is not None and self.public[one.keys_of].has_whole_keys
        }
        return frozenset({*map(str, given), *of_public})

    @property
    def _main_unit(self) -> str:
        """The unit of the table of [dataset]: its own, or that of the table that it belongs to."""
        part, seen = self.contract, {self.main}
        while part.has("dataset", "belongs_to") and (name := part.value("dataset", "belongs_to")) in self.parts:
            part = self.parts[name]
            if name in seen:  # which is refused where it stands
                break
            seen.add(name)
        return part.text_of("dataset", "unit") if part.has("dataset", "unit") else ROW

    def _unit(self, part: Contract, parent: Parent | None, is_main: bool) -> str:
        if parent is not None:
            if part.has("dataset", "unit"):
                raise part.refuse(
                    f"rows that belong to {parent.table.name!r} are of its units; leave unit out, or belongs_to",
                    "dataset",
                    "unit",
                )
            return parent.table.unit
        if not is_main and not part.has("dataset", "unit"):
            return self._main_unit
        unit = part.text_of("dataset", "unit")
        if unit == ROW and not is_main:
            raise part.refuse(
                "all private tables have the same units; name the column that tells whose rows they are",
                "dataset",
                "unit",
            )
        return unit

    def _parent(self, part: Contract, path: tuple[str, ...]) -> Parent | None:
        where = ("on",) if part.at else ("dataset", "on")
        if part.has("dataset", "on") and not isinstance(pairs := part.value("dataset", "on"), Mapping):
            raise part.refuse(
                f"on must say which column refers to which, got {shown(pairs)}; write it like "
                'on = { column = "column of the other table" }',
                "dataset",
                "on",
            )
        if not part.has("dataset", "belongs_to"):
            if part.has(*where):
                raise part.refuse("on needs belongs_to; name the table that these columns refer to", *where)
            return None
        name = part.text_of("dataset", "belongs_to")
        if name not in self.parts or name in self.public:
            known = [table for table in self.parts if table not in (*self.public, path[-1])]
            raise part.refuse(
                f"belongs_to must name a private table, got {shown(name)}; {suggest(name, known, 'known are')}",
                "dataset",
                "belongs_to",
            )
        if name in path:
            raise part.refuse(
                f"{' belongs to '.join((*path, name))}; let one of them have a unit instead", "dataset", "belongs_to"
            )
        if len(path) > MOST_DEPTH or self._table(name, path).depth >= MOST_DEPTH:
            raise part.refuse(
                f"rows may belong to rows at most {MOST_DEPTH} times over, and {path[0]!r} would be further from its "
                "unit; let one of the tables on the way have a unit instead",
                "dataset",
                "belongs_to",
            )
        parent = self._table(name, path)
        if parent.rows_are_units:
            raise part.refuse(
                f"each row of {name!r} is a unit of its own, and rows are not told apart; give it a unit that is a "
                "column",
                "dataset",
                "belongs_to",
            )
        pairs = dict(part.table(*where))
        if not pairs or not all(isinstance(column, str) and column for column in pairs.values()):
            raise part.refuse(
                f"on must say which columns refer to those of {name!r}, got {shown(pairs)}; write it like "
                f'on = {{ order_no = "{(parent.key or ("order",))[0]}" }}',
                *where,
            )
        return Parent(parent, tuple(pairs.items()))

    def _refuse_clipped(self, part: Contract, columns: Mapping[str, Column], parent: Parent | None) -> None:
        """Refuse a reference whose values are clipped or rounded as they are read: two of them could become one."""
        for own, of in parent.on if parent is not None else ():
            assert parent is not None
            sides = ((own, columns), (of, parent.table.columns))
            clipped = next((name for name, known in sides if isinstance(known.get(name), Numbers)), None)
            if clipped is not None:
                raise part.refuse(
                    f"on must match values as they are, and bounds clip those of {clipped!r}; leave its bounds out, or "
                    "list its values as keys",
                    *(("on",) if part.at else ("dataset", "on")),
                )

    def _limit(self, part: Contract, unit: str, is_main: bool) -> int:
        if part.has("dataset", "max_rows_per_unit"):
            return limit_of(part, unit)
        has_others = len(self.parts) > len(self.public) + 1
        if is_main and has_others and unit != ROW:
            return 1  # it lists the units, of which the other tables have rows
        return limit_of(
            part if is_main or not self.contract.has("dataset", "max_rows_per_unit") else self.contract, unit
        )

    def _identifiers(
        self, name: str, part: Contract, columns: Mapping[str, Column], parent: Parent | None
    ) -> dict[str, Identifier]:
        """Return the columns that rows are only matched by, those that other tables refer to among them."""
        texts, references = read_texts(part), read_references(part, self.public)
        names = [*read_key(part), *(own for own, _ in (parent.on if parent is not None else ()))]
        names += [column for other in self.parts.values() for column in _referred(other, name)]
        unit = part.value("dataset", "unit") if part.has("dataset", "unit") else self._main_unit
        own_unit = () if parent is not None else (unit,)
        domains = {} if parent is None else {own: parent.table.domain(of) for own, of in parent.on}
        return {
            column: Identifier(
                column,
                domains.get(column, (name, column)),
                column in texts,
                references.get(column),
                self.public[references[column]].has_whole_keys if column in references else None,
            )
            for column in dict.fromkeys([*names, *texts, *references])
            if column not in columns and column not in own_unit
        }


def _referred(part: Contract, name: str) -> Iterable[str]:
    """Return the columns of a table that rows of another belong to."""
    where = ("on",) if part.at else ("dataset", "on")
    if not part.has("dataset", "belongs_to") or part.value("dataset", "belongs_to") != name or not part.has(*where):
        return []
    return [column for column in part.table(*where).values() if isinstance(column, str)]


def _check_text(contract: Contract, name: str, what: str, *path: str) -> str:
    """Return a name that the ledger can keep."""
    try:
        return check_name(name, what)
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), *path) from None


def limit_of(contract: Contract, unit: str) -> int:
    """Read how many rows of a unit count in full."""
    is_given = contract.has("dataset", "max_rows_per_unit")
    if is_given and contract.value("dataset", "max_rows_per_unit") == "auto":
        raise contract.refuse(
            "max_rows_per_unit is chosen by the custodian, not from the data; write a number that would suit any table "
            "of this kind, such as 4: `inbounds check` then shows what it cuts, and what other limits would. Or leave "
            "it out, and run `inbounds discover limit`, which chooses one once, for a price",
            "dataset",
            "max_rows_per_unit",
        )
    if unit == ROW:
        if is_given and contract.whole_of("dataset", "max_rows_per_unit") != 1:
            raise contract.refuse(
                'max_rows_per_unit must be 1 if unit = "row"; leave it out, or name the column that tells whose rows '
                "they are",
                "dataset",
                "max_rows_per_unit",
            )
        return 1
    if not is_given:
        where = f"[{'.'.join(contract.at)}]" if contract.at else "[dataset]"
        raise contract.refuse(
            f"max_rows_per_unit is missing in {where}; add it, or run `inbounds discover limit`, which chooses one "
            "for a price",
            "dataset",
            "max_rows_per_unit",
        )
    limit = contract.whole_of("dataset", "max_rows_per_unit")
    if limit > MOST_LIMIT:
        raise contract.refuse(
            f"max_rows_per_unit must be at most {MOST_LIMIT}, got {shown(limit)}; let fewer count",
            "dataset",
            "max_rows_per_unit",
        )
    return limit
