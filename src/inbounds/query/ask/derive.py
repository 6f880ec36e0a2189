"""Deriving: an answer that follows from those an analyst has already, without a charge or a look at the data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from inbounds.errors import InvalidParameter, LedgerConflict
from inbounds.query.answer.derived_answer import derive_table
from inbounds.query.answer.made_answer import columns_of
from inbounds.query.methods.contribution_bound import row_limit
from inbounds.results.answer import Answer

if TYPE_CHECKING:
    from inbounds.ledger import Ledger
    from inbounds.query.query import Query


def derive(query: Query, analyst: str, ledger: Ledger | None, hidden: Callable[[str], bool] | None) -> Answer | None:
    """Return a sum or a part of a table that was released together and adds up; None if there is none.

    Answers to requests that are `hidden` are passed over.
    """
    if len(query.questions) > 1:
        return None
    dataset = query.dataset
    try:
        with dataset.unchecked_ledger() if ledger is None else nullcontext(ledger) as opened:
            entries = opened.statement(dataset.name, analyst).entries
    except (InvalidParameter, LedgerConflict):  # there is no ledger yet, or it does not know the dataset
        return None
    answers = [(entry.request_id, entry.text) for entry in entries if entry.kind == "answer"]
    if hidden is not None:
        answers = [(request, text) for request, text in answers if not hidden(request)]
    table = derive_table(dataset.identity, query.questions[0], answers)
    if table is None:
        return None
    names = columns_of(query.questions, query.places)
    limit = row_limit(query.questions)
    facts = (table.noise, Fraction(0), table.request_id, limit, table.intervals, table.confidence)
    return query.view(Answer(names, table.rows, *facts, note=table.note, simultaneous=table.simultaneous))
