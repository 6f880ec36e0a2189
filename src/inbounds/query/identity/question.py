"""The text that tells one question from another: the same for all its spellings.

Aliases, names that a question gives to what it makes, the order of conditions and of tables that are joined: none of
it is in this text.  What is shown, and how, is not in it either.  Two questions with one text mean the same.  Two that
mean the same may have two texts, where nobody would see at once that they do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from inbounds.query.identity.rows import rows_of
from inbounds.query.question.question import Question


def identity_of(questions: Sequence[Question]) -> str:
    """Return the one text of some questions about the same rows and groups."""
    first = questions[0]
    rows = rows_of(first.table, first.condition)
    groups = [
        [str(rows.names.rename(group.column.node)), list(group.starts) if group.has_bins else None]
        for group in first.groups
    ]
    measures = [rows.names.measure(question.measure) for question in questions]
    rest = ["rest"] if first.rest else []
    return json.dumps([measures, groups, first.sets, rows.text, *rest])
