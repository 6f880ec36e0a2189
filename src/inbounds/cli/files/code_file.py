"""A file with a query as code: a notebook, Python, or a section of a report's file, by its ending."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from inbounds.cli.files.new_file import write_new
from inbounds.cli.shell.access import PRACTISING
from inbounds.code.notebook import ENDING as NOTEBOOK
from inbounds.code.notebook import write_notebook
from inbounds.code.place import AtHand, OnServer, Place
from inbounds.code.question_code import WrittenQuestion, write_code
from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import refuse_taken
from inbounds.ledger.values.address import is_address

PYTHON, REPORT = ".py", ".sql"

CodePath = Annotated[
    str | None,
    typer.Option(
        "--code",
        metavar="FILE",
        help="Save the query as code: a notebook (.ipynb), Python (.py), or a section of a report file (.sql).",
    ),
]


@dataclass(frozen=True)
class CodeFile:
    """A new file for a query as code, and where the query is asked."""

    path: Path
    place: Place

    @classmethod
    def at(
        cls,
        text: str | None,
        epsilon: Decimal | None,
        *,
        dataset: str,
        server: str | None,
        practise: bool,
        **at_hand: str | None,
    ) -> CodeFile | None:
        """Return the file that was asked for, or refuse it before anything is spent; None if none was."""
        if text is None:
            return None
        path = Path(text)
        if path.suffix.lower() not in (NOTEBOOK, PYTHON, REPORT):
            raise InvalidParameter(
                f"--code must end in {NOTEBOOK}, {PYTHON} or {REPORT}, got {path.name!r}; write for example query.ipynb"
            )
        if epsilon == 0:
            raise InvalidParameter("--code needs a query that is asked with an epsilon, got 0; leave --code out")
        refuse_taken(path)
        if server is not None:
            return cls(path, OnServer(server, dataset, is_practice=practise))
        return cls(path, _at_hand(path, dataset, is_practice=practise, **at_hand))

    def write(self, question: WrittenQuestion, cost: str) -> None:
        """Write the file; `cost` is what asking the query will cost."""
        kind = self.path.suffix.lower()
        if kind == NOTEBOOK:
            text = write_notebook(question, cost)
        else:
            code = write_code(question)
            text = code.python if kind == PYTHON else code.report
        write_new(self.path, f"{text}\n")


def _at_hand(path: Path, contract: str, *, is_practice: bool, analyst: str | None, ledger: str | None) -> AtHand:
    """Return a dataset at hand, as code that is run in the folder of a file opens it."""
    if analyst is None and not is_practice and path.suffix.lower() != REPORT:
        raise InvalidParameter("--code writes down who asks; give --analyst too")
    if ledger is not None and is_address(ledger):
        raise InvalidParameter(
            "--code writes no address of a ledger, which may hold a password; leave --ledger out, and write it as "
            "ledger under [budget] in the contract"
        )
    own = None if ledger is None else _from_folder(path, ledger)
    return AtHand(_from_folder(path, contract), analyst or PRACTISING, own, is_practice=is_practice)


def _from_folder(path: Path, other: str) -> str:
    """Return another path as it is from the folder of this one."""
    return other if Path(other).is_absolute() else Path(os.path.relpath(other, path.parent)).as_posix()


def chosen(options: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that say something else than what is usual."""
    return {name: value for name, value in options.items() if value != usual.get(name)}
