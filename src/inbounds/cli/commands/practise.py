"""`inbounds practise`: made-up rows that fit a contract, in files, with a contract beside them that points to them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inbounds.cli.shell.extras import needing
from inbounds.cli.shell.options import AsJson, read_whole
from inbounds.cli.shell.output import format_pairs, show
from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import replacing

ContractFile = Annotated[str, typer.Argument(metavar="CONTRACT", help="The contract, a TOML file.")]
Rows = Annotated[str, typer.Option("--rows", metavar="NUMBER", help="About how many rows each table gets.")]
Folder = Annotated[
    str | None, typer.Option("--to", metavar="FOLDER", help="A new or empty folder.  [default: NAME-practice]")
]
Seed = Annotated[str, typer.Option(metavar="NUMBER", help="The same seed makes the same rows.")]


def command(
    contract: ContractFile, rows: Rows = "1000", to: Folder = None, seed: Seed = "0", as_json: AsJson = False
) -> None:
    """Make practice data: made-up rows that fit a contract.

    Neither the source nor a ledger is opened. Writes one parquet file per private table, and a copy of the contract
    that points to them, so that every command works on the copy.

    \b
    Example:
      inbounds practise clinic.toml --rows 1000 --to practice
    """
    with needing("query", "querying tables"):
        from inbounds.query.contract.contract import Contract  # noqa: PLC0415  the other commands do without
        from inbounds.query.practice.copied_contract import copy_contract  # noqa: PLC0415
        from inbounds.query.practice.practice_engines import PracticeTables  # noqa: PLC0415
        from inbounds.query.tables.contract_tables import Tables  # noqa: PLC0415
    read = Contract.load(Path(contract))
    folder = Path(to) if to is not None else Path(f"{Path(contract).stem}-practice")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidParameter(f"--to must be a new or empty folder, got {str(folder)!r}; name another one")
    tables = Tables.of(read)
    made = PracticeTables.of(tables, read_whole(rows, "--rows"), read_whole(seed, "--seed"))
    folder.mkdir(parents=True, exist_ok=True)
    files = made.write_parquet(folder)
    path = folder / f"{Path(contract).stem}.toml"
    with replacing(path) as unfinished:
        unfinished.write_text(copy_contract(read, files), encoding="utf-8")
    counts = {name: len(table.rows) for name, table in made.made.items()}
    made.close()
    tables.close()
    lines = [(str(folder / files[name]), f"{count:,} made-up rows") for name, count in counts.items()]
    text = format_pairs([*lines, (str(path), "the contract that points to them")])
    show({"contract": str(path), "rows": counts}, text, as_json=as_json)
