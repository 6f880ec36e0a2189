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
    from inbounds.query.custodian.draft import Draft

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A parquet, csv or .duckdb file, or a postgresql:// URL.", show_default=False
    ),
]
TableName = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="The table in a .duckdb file or in PostgreSQL.")
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


def command(
    source: Source,
    table: TableName = None,
    delimiter: Delimiter = None,
    look: Look = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Draft a contract from a table's column names and types.

    No row is read unless you give --look. The draft marks what you must decide: whose privacy to protect, the row
    limit, bounds, categories and the budget. The contract is refused until you have decided.

    \b
    Example:
      inbounds init visits.parquet --output new.toml
    """
    target = None if output is None else Path(output)
    if target is not None:
        refuse_taken(target)
    draft = _make_draft(source, table, delimiter, None if target is None else target.parent, look=look)
    text = str(draft)
    if target is not None:
        write_new(target, text)
    data = {
        "contract": text,
        "output": output,
        "columns": {name: None if kind is None else kind.value for name, kind in draft.schema.columns.items()},
        "unit_candidates": draft.candidates,
    }
    show(data, text.rstrip("\n") if target is None else _describe_draft(draft, target), as_json=as_json)


def _make_draft(source: str, table: str | None, delimiter: str | None, folder: Path | None, *, look: bool) -> Draft:
    with needing("query", "querying tables"):
        from inbounds.query.custodian.draft import Draft  # noqa: PLC0415  the other commands do without
        from inbounds.query.custodian.schema import Schema  # noqa: PLC0415
    return Draft(Schema.read(source, table=table, delimiter=delimiter, folder=folder, look=look))


def _describe_unit(candidates: tuple[str, ...]) -> str:
    return f"possibly {', '.join(candidates)}, judging by the name" if candidates else "no column name looks like an id"


def _describe_draft(draft: Draft, target: Path) -> str:
    read = "no row was read" if draft.schema.shape is None else "the first lines were read"
    lines = [
        ("draft", f"{target}, from the names and types of {len(draft.schema.columns)} columns; {read}"),
        ("unit", _describe_unit(draft.candidates)),
        ("next", f'edit the lines marked "decide", then run: inbounds check {target}'),
    ]
    return format_pairs(lines)
