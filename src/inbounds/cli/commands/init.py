"""`inbounds init`: a draft of a contract, from the names and types of a table's columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.cli.files.new_file import refuse_taken, write_new
from inbounds.cli.shell.options import AsJson
from inbounds.cli.shell.output import pairs, show

if TYPE_CHECKING:
    from inbounds.query.custodian.draft import Draft

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A parquet or csv file, a .duckdb file or a postgresql:// URL.", show_default=False
    ),
]
TableName = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="The table, of a .duckdb file or in PostgreSQL.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="Of a csv file.  [default: the one that the header has]"),
]
Look = Annotated[
    bool, typer.Option("--look", help="Look at the first lines of a csv file for how numbers and days are written.")
]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="Write the draft to this new file, instead of printing it."),
]


def command(
    source: Source,
    table: TableName = None,
    delimiter: Delimiter = None,
    look: Look = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Draft a contract from the names and types of a table.

    No row is looked at, but with --look. What you have to decide (whose privacy, the row limit, bounds, keys, the
    budget) is marked, and the contract is refused until you have.

    \b
    Example:
      inbounds init visits.parquet --output new.toml
    """
    target = None if output is None else Path(output)
    if target is not None:
        refuse_taken(target)
    draft = _draft(source, table, delimiter, None if target is None else target.parent, look=look)
    text = str(draft)
    if target is not None:
        write_new(target, text)
    found = {
        "contract": text,
        "output": output,
        "columns": {name: None if kind is None else kind.value for name, kind in draft.schema.columns.items()},
        "unit_candidates": draft.candidates,
    }
    show(found, text.rstrip("\n") if target is None else _told(draft, target), as_json=as_json)


def _draft(source: str, table: str | None, delimiter: str | None, folder: Path | None, *, look: bool) -> Draft:
    try:
        from inbounds.query.custodian.draft import Draft  # noqa: PLC0415  the other commands do without
        from inbounds.query.custodian.schema import Schema  # noqa: PLC0415
    except ImportError as problem:
        raise ImportError(
            f"questions to tables need {problem.name}, which is not installed: pip install 'inbounds[query]'"
        ) from None
    return Draft(Schema.read(source, table=table, delimiter=delimiter, folder=folder, look=look))


def _told(draft: Draft, target: Path) -> str:
    looked = "no row was looked at" if draft.schema.shape is None else "the first lines were looked at"
    lines = [
        ("draft", f"{target}, from the names and types of {len(draft.schema.columns)} columns; {looked}"),
        ("unit", "by their names, perhaps: " + (", ".join(draft.candidates) or "none")),
        ("next", f'decide what is marked "decide", then: inbounds check {target}'),
    ]
    return pairs(lines)
