"""A question as a notebook: how it is opened, what it costs, its answer, and a chart.

No key is in it, and running it again pays nothing: what it asks has a request id, and what was answered is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inbounds.code.literals import write_markdown, write_text
from inbounds.code.question_code import WrittenQuestion

ENDING, KIND = ".ipynb", "application/x-ipynb+json"
"""What its files are called, and what kind of file that is."""


@dataclass(frozen=True)
class Cell:
    """A cell: code, or words in Markdown."""

    source: str
    is_code: bool = False

    def data(self, number: int) -> dict[str, Any]:
        """Return it as the format of notebooks has it."""
        facts: dict[str, Any] = {
            "id": f"cell-{number}",
            "metadata": {},
            "source": self.source.splitlines(keepends=True),
        }
        if self.is_code:
            return {"cell_type": "code", "execution_count": None, "outputs": [], **facts}
        return {"cell_type": "markdown", **facts}


def write_notebook(question: WrittenQuestion, cost: str) -> str:
    """Return a notebook that asks a question, or fetches its answer; `cost` is what asking it will cost."""
    cells = [*_open(question), *(_fetch(question) if question.is_answered else _ask(question, cost)), *CHART]
    return _write_cells(cells)


def _write_cells(cells: Sequence[Cell]) -> str:
    """Return a notebook of these cells, which nobody has run yet."""
    return json.dumps(
        {
            "cells": [cell.data(number) for number, cell in enumerate(cells, 1)],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
        ensure_ascii=False,
    )


AGAIN = "# Run again, this is free: the request id is the same. To ask anew, at the same cost, write another one."

CHART = (Cell("## Chart"), Cell("chart(answer)", is_code=True))


def _open(question: WrittenQuestion) -> tuple[Cell, ...]:
    place = question.place
    opened = f"{place.opened} = {place.opening(is_answered=question.is_answered)}{place.remark}"
    dataset = [] if place.dataset == place.opened else [f"dataset = {place.dataset}"]
    imports = sorted(
        (place.imports, "from inbounds.plot import chart"), key=lambda line: (line.startswith("from"), line)
    )
    what = "Answer from" if question.is_answered else "Query"
    return (
        Cell(f"# {what} “{write_markdown(place.name)}”\n\nThis notebook needs {place.needs}."),
        Cell("\n".join((*imports, "", opened, *dataset)), is_code=True),
    )


def _ask(question: WrittenQuestion, cost: str) -> tuple[Cell, ...]:
    sql = f"QUERY = {write_text(question.text)}\nEPSILON = {question.epsilon!r}\n\n"
    query = f"query = {question.query('dataset', 'QUERY')}\n"
    asked = f"answer = query.{question.asking('EPSILON')}"
    return (
        Cell("## Preview\n\nThis is free: it says what the query costs, and how large the error will be."),
        Cell(f"{sql}{query}query.{question.explaining('EPSILON')}", is_code=True),
        Cell(f"## Answer\n\n{_describe_cost(cost)}"),
        Cell(f"{AGAIN}\n{asked}\nanswer", is_code=True),
    )


def _describe_cost(cost: str) -> str:
    if cost == "0":
        return "The next cell is free: nothing is spent."
    return (
        f"**The next cell spends ε = {cost} of your budget** when it is run for the first time. "
        "Run again, it returns the same answer for free."
    )


def _fetch(question: WrittenQuestion) -> tuple[Cell, ...]:
    answering = "\n".join(question.answering("dataset", "QUERY", repr(question.epsilon)))
    return (
        Cell("## Query"),
        Cell(f"QUERY = {write_text(question.text)}\nprint(QUERY)", is_code=True),
        Cell("## Answer\n\nThis answer was paid for already. The next cell fetches it, for free."),
        Cell(f"{answering}\nanswer", is_code=True),
    )
