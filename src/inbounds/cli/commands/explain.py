"""`inbounds explain`: what a question to a table would do, without asking it."""

from __future__ import annotations

import re
from textwrap import fill as fill_lines
from textwrap import wrap
from typing import Annotated, Any
from uuid import uuid4

import typer

from inbounds.bounds.notation import write_end
from inbounds.cli.files.code_file import CodeFile, CodePath, chosen
from inbounds.cli.shell.access import open_access
from inbounds.cli.shell.cost import AssumedRows, CostOrNone, Price, WantedError
from inbounds.cli.shell.options import (
    Alone,
    AsJson,
    DatasetFile,
    KeyFile,
    LedgerPlace,
    Pooling,
    Practise,
    Server,
    Simultaneous,
    Sql,
    Weights,
    read_optional_part,
    read_weights,
)
from inbounds.cli.shell.output import show
from inbounds.code.question_code import WrittenQuestion
from inbounds.display.text import WIDTH

Owner = Annotated[
    str | None,
    typer.Option("--analyst", metavar="NAME", help="Check whether it follows from answers NAME already has (free)."),
]

_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")

_HIDDEN = {ord(" "): 0xE000, ord("\n"): 0xE001}
"""What stands for the blanks of quoted texts while lines are folded at the others."""


def command(  # noqa: PLR0913, PLR0917  each is an option of the command
    sql: Sql,
    dataset: DatasetFile,
    epsilon: CostOrNone = None,
    error: WantedError = None,
    rows: AssumedRows = None,
    pooling: Pooling = None,
    alone: Alone = False,
    weights: Weights = None,
    simultaneous: Simultaneous = False,
    analyst: Owner = None,
    code: CodePath = None,
    ledger: LedgerPlace = None,
    server: Server = None,
    key_file: KeyFile = None,
    practise: Practise = False,
    as_json: AsJson = False,
) -> None:
    """Preview a query's cost and accuracy, for free.

    Nothing is spent and no row is read. With --error the least epsilon for that expected error is found and shown.

    \b
    Example:
      inbounds explain --dataset clinic.toml --epsilon 0.5 \\
          "SELECT COUNT(*) FROM visits WHERE age >= 65"
    """
    price, fixed = Price.read(epsilon, error, rows, sql), read_optional_part(pooling, "--pooling")
    shares = read_weights(weights)
    where: dict[str, Any] = {"ledger": ledger, "analyst": analyst}
    file = CodeFile.at(code, price.epsilon, dataset=dataset, server=server, practise=practise, **where)
    with open_access(dataset, server, key_file, **where, practise=practise) as access:
        question = access.question(sql, alone=alone)
        cost = price.settle(question, fixed, shares)
        choices: dict[str, Any] = {"pooling": fixed, "weights": shares, "simultaneous": simultaneous}
        explanation = question.explain(cost.epsilon, **choices, **access.who)
    text = str(explanation).replace(explanation.statement, fold(explanation.statement))
    data = {**explanation.data(), **cost.data()}
    if cost.wanted is not None:
        text = f"{fill_lines(cost.wanted, WIDTH)}\n\n{text}"
    if file is not None:
        asked_with = chosen(choices, {"simultaneous": False})
        written = WrittenQuestion(file.place, sql, cost.text, uuid4().hex, alone=alone, options=asked_with)
        file.write(written, "0" if practise else write_end(explanation.epsilon))
        text, data = f"{text}\n\nThe code was saved to {file.path}.", {**data, "code": str(file.path)}
    show(data, text, as_json=as_json)


def fold(sql: str) -> str:
    """Return the same statement with long lines folded at blanks, though never inside of quotes."""
    lines: list[str] = []
    for line in _QUOTED.sub(lambda quoted: quoted[0].translate(_HIDDEN), sql).split("\n"):
        indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
        lines += wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]
    return "\n".join(lines).translate({shown: blank for blank, shown in _HIDDEN.items()})
