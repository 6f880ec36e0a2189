"""The tables of a contract: the one of [dataset], other private ones of the same units, and public ones.

    [tables.prescriptions]
    source = "prescriptions.parquet"
    [tables.prescriptions.columns.dose]
    bounds = "[0, 500] step 5"

They share the units, the budget and the account in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.ledger.values.names import check_name
from inbounds.query.contract.contract import Contract
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import DATASET_KEYS, ROW, Table, columns_of, limit_of

OTHER_KEYS = tuple(key for key in DATASET_KEYS if key not in ("name", "units", "tick"))


@dataclass(frozen=True, eq=False)
class Tables:
    """What can stand after FROM."""

    main: Table
    others: Mapping[str, Table] = field(default_factory=dict)
    """The other private tables, by name."""
    public: Mapping[str, PublicTable] = field(default_factory=dict)

    @classmethod
    def of(cls, contract: Contract) -> Tables:
        """Read the tables that a contract describes."""
        main = Table.of(contract)
        others: dict[str, Table] = {}
        public: dict[str, PublicTable] = {}
        for name in contract.table("tables") if contract.has("tables") else ():
            part = contract.part("tables", name)
            _check_name(contract, name, main)
            part.refuse_unknown(("dataset", "columns"))
            if part.has("dataset", "public"):
                public[name] = PublicTable.of(part, name, columns_of(part))
            else:
                others[name] = _private(contract, part, name, main)
        return cls(main, others, public)

    @property
    def private(self) -> dict[str, Table]:
        """All private tables, by name."""
        return {self.main.name: self.main, **self.others}

    def why_not(self, name: object) -> str:
        """Say why no table of this name can be asked."""
        if isinstance(name, str) and name in self.public:
            return f"{name} is public, so there is nothing to protect; join it to a private table"
        names = ", ".join(repr(table) for table in (*self.private, *self.public))
        return f"there is no table {shown(name)}; the contract has {names}"


def _check_name(contract: Contract, name: str, main: Table) -> None:
    try:
        check_name(name, "the name of a table")
    except InvalidParameter as problem:
        raise contract.refuse(str(problem), "tables", name) from None
    if name == main.name:
        raise contract.refuse(f"{name!r} is the table of [dataset]; give this one another name", "tables", name)


def _private(contract: Contract, part: Contract, name: str, main: Table) -> Table:
    part.refuse_unknown(OTHER_KEYS, "dataset")
    if main.rows_are_units:
        raise contract.refuse(
            f'with unit = "row" no row of {name!r} would belong to a row of {main.name!r}; name the column that tells '
            "whose rows they are, or say public = true",
            "tables",
            name,
        )
    unit = part.text_of("dataset", "unit") if part.has("dataset", "unit") else main.unit
    if unit == ROW:
        raise part.refuse(
            "all private tables have the same units; name the column that tells whose rows they are", "dataset", "unit"
        )
    columns = columns_of(part)
    for unit_name in (unit, main.unit):
        if unit_name in columns:
            raise part.refuse(
                f"the unit {unit_name!r} cannot be queried as a column; leave it out", "columns", unit_name
            )
    limit = limit_of(part, unit) if part.has("dataset", "max_rows_per_unit") else main.limit
    return Table(name, unit, limit, columns, is_main=False)
