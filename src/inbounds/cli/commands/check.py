"""`inbounds check`: what a contract does to the real table, shown to the custodian and to nobody else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.cli.files.new_file import OWNER_ONLY, write_new
from inbounds.cli.shell.exit_codes import FAILED
from inbounds.cli.shell.extras import open_dataset
from inbounds.cli.shell.output import format_pairs, show, to_json
from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import refuse_taken

if TYPE_CHECKING:
    from inbounds.query.custodian.inspection import Inspection

EYES_ONLY = "the custodian's eyes only: true figures, without noise"

ContractFile = Annotated[
    str, typer.Argument(metavar="CONTRACT", help="The table's contract, a TOML file.", show_default=False)
]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="Write to this new file, readable by you alone."),
]
Values = Annotated[bool, typer.Option("--values", help="Also show the values that are not in the category list.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs; needs --output.")]


def command(contract: ContractFile, output: Output = None, values: Values = False, as_json: AsJson = False) -> None:
    """Check a contract against the real table.

    For the custodian's eyes only: these are true figures, without noise. They show what the row limit and the bounds
    cut off, missing values, keys that repeat, values not in the category list, types that do not match, and how long
    a statement takes. Nothing is charged or recorded. The figures go to a terminal, or to a new file that only its
    owner can read.

    \b
    Example:
      inbounds check clinic.toml --output check.txt
    """
    target = _choose_target(output, as_json=as_json)
    inspection = _inspect(contract, values=values)
    if target is None:
        show(None, _write_text(inspection, contract), as_json=False)
        _leave(inspection)
        return
    figures = {"for": EYES_ONLY, **inspection.data()}
    text = json.dumps(to_json(figures), ensure_ascii=False, indent=2) if as_json else _write_text(inspection, contract)
    write_new(target, f"{text}\n", OWNER_ONLY)
    lines = [("written", f"{target}, readable by you alone")]
    tables = (inspection, *inspection.others)
    if any(table.unlinked for table in tables):
        lines.append(("WARNING", "a column of key, on or unit does not exist or match; the file has the details"))
    if any(table.hardly_read for table in tables):
        lines.append(("WARNING", "many values could not be parsed as the contract says; the file has the details"))
    if any(table.hardly_keys for table in tables):
        lines.append(("WARNING", "most values of a column are not in its category list; the file has the details"))
    if any(table.key is not None and table.key.repeated for table in tables):
        lines.append(("WARNING", "the key of a table repeats; the file has the details"))
    show(None, format_pairs(lines), as_json=False)
    _leave(inspection)


def _leave(inspection: Inspection) -> None:
    """Leave with an exit code that programs notice if keys are not there, or most values of a column not read."""
    if not inspection.is_readable:
        raise typer.Exit(FAILED)


def _write_text(inspection: Inspection, contract: str) -> str:
    from inbounds.query.custodian.text import inspection_text  # noqa: PLC0415  the other commands do without

    return inspection_text(inspection, contract)


def _choose_target(output: str | None, *, as_json: bool) -> Path | None:
    """Return the file to write, None for the terminal; refuse any other place before the table is looked at."""
    if output is not None:
        target = Path(output)
        refuse_taken(target)
        return target
    if as_json:
        raise InvalidParameter(
            "check: true figures as JSON must go to a file that only its owner can read; add --output FILE"
        )
    if not is_terminal():
        raise InvalidParameter(
            "check prints true figures to a terminal only, and standard output is not one; run it without a pipe or "
            "redirection, or add --output FILE, a new file that only its owner can read"
        )
    return None


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _inspect(contract: str, *, values: bool) -> Inspection:
    with open_dataset(contract, create_ledger=False) as dataset:
        from inbounds.query.custodian.inspection import Inspection  # noqa: PLC0415  the other commands do without

        return Inspection.of(dataset, values=values)
