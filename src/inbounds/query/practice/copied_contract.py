"""A copy of a contract that points to made-up rows: everything that it says else is the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inbounds.ledger.values.address import is_address
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import FORM_KEYS
from inbounds.query.contract.toml_text import write_toml

OF_A_SOURCE = ("source", "table", *FORM_KEYS)
"""What says where a table is and how it is written."""

HEAD = """\
# PRACTICE DATA: the rows that this contract points to are made up, and tell nothing about anybody.
# It is a copy of {name}; its own ledger begins with nothing spent.

"""


def copy_contract(contract: Contract, files: Mapping[str, str]) -> str:
    """Return the text of a contract whose private tables are in other files, by name, from the folder that it is in.

    Public tables, lists of keys and maps are named where they are.  The ledger is one of the copy's own.
    """
    content = dict(contract.content)
    name = contract.text_of("dataset", "name")
    content["dataset"] = {**_without(content["dataset"], OF_A_SOURCE), "source": files[name], "practice": True}
    if "columns" in content:
        content["columns"] = _copy_columns(contract, content["columns"])
    if "tables" in content:
        content["tables"] = {
            name: _copy_table(contract, table, files.get(name)) for name, table in content["tables"].items()
        }
    content["budget"] = _without(content["budget"], ("ledger",))
    return HEAD.format(name=contract.name) + write_toml(content)


def _copy_table(contract: Contract, table: Mapping[str, Any], file: str | None) -> dict[str, Any]:
    """Return the description of a private table in another file, or of a public one that stays where it is."""
    if file is None:
        return {**table, "source": _place(contract, table["source"])}
    columns = {"columns": _copy_columns(contract, table["columns"])} if "columns" in table else {}
    return {**_without(table, OF_A_SOURCE), "source": file, **columns}


def _copy_columns(contract: Contract, columns: Mapping[str, Any]) -> dict[str, Any]:
    copied = {}
    for name, column in columns.items():
        said = _without(column, ("date_format",))
        for key in ("keys", "map"):
            if isinstance(said.get(key), str):  # a public file
                said[key] = _place(contract, said[key])
        copied[name] = said
    return copied


def _without(table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def _place(contract: Contract, source: str) -> str:
    """Return where a source is, whichever folder it is named from."""
    if is_address(source) or source == "spark":
        return source
    path = Path(source).expanduser()
    return str(path if path.is_absolute() else contract.folder / path)
