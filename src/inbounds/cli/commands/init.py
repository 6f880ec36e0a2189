"""`inbounds init`: a draft of a contract, from the names and types of a table's columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.cli.files.new_file import write_new
from inbounds.cli.shell.extras import needing
from inbounds.cli.shell.options import AsJson
from inbounds.cli.shell.output import format_pairs, show
from inbounds.files.whole_file import refuse_taken

if TYPE_CHECKING:
    from inbounds.query.custodian.database_draft import DatabaseDraft
    from inbounds.query.custodian.draft import Draft

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A parquet, csv, .duckdb or SQLite file, a folder, or a postgresql:// or clickhouse:// URL.",
        show_default=False,
    ),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table", metavar="NAME", help="The table in a .duckdb or SQLite file, in PostgreSQL or in ClickHouse."
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit", metavar="COLUMN", help="Whose privacy is protected: COLUMN or TABLE.COLUMN; needed for all tables."
    ),
]
SchemaName = Annotated[
    str | None,
    typer.Option("--schema", metavar="NAME", help="The schema whose tables are drafted.  [default: the usual one]"),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="The delimiter of a csv file.  [default: read from the header]"),
]
Look = Annotated[
    bool, typer.Option("--look", help="Read the first lines of a csv file to see how numbers and dates are written.")
]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="Write the draft to this new file instead of printing it."),
]


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    source: Source,
    table: TableName = None,
    unit: Unit = None,
    schema: SchemaName = None,
    delimiter: Delimiter = None,
    look: Look = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Draft a contract from column names and types.

    No row is read unless you give --look. The draft marks what you must decide: whose privacy to protect, the row
    limit, bounds, categories and the budget. The contract is refused until you have decided.

    A folder, or a database of which you name no table, is drafted with all its tables: with --unit, such as --unit
    customers.customer_id, it proposes which table belongs to which, by declared foreign keys or else by column names.

    \b
    Example:
      inbounds init visits.parquet --output new.toml
    """
    target = None if output is None else Path(output)
    if target is not None:
        refuse_taken(target)
    folder = None if target is None else target.parent
    with needing("query", "querying tables"):
        from inbounds.query.custodian.database_draft import draft_contract  # noqa: PLC0415  others do without
    draft = draft_contract(source, table=table, unit=unit, schema=schema, delimiter=delimiter, folder=folder, look=look)
    text = str(draft)
    if target is not None:
        write_new(target, text)
    data = {"contract": text, "output": output, **draft.data()}
    show(data, text.rstrip("\n") if target is None else _describe_draft(draft, target), as_json=as_json)


def _describe_draft(draft: Draft | DatabaseDraft, target: Path) -> str:
    lines = [
        ("draft", f"{target}, from the names and types of {draft.scope}"),
        *draft.facts(),
        ("next", f'edit the lines marked "decide", then run: inbounds check {target}'),
    ]
    return format_pairs(lines)
