"""An answer made of what was drawn for each question, and of what the contract says of its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from inbounds.query.answer.interval_cover import find_cover
from inbounds.query.answer.running_totals import find_running_totals
from inbounds.query.answer.whole_range import mark_whole_ranges
from inbounds.query.methods.contribution_bound import row_limit
from inbounds.query.methods.cut_rows import CutRows
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import answer_names
from inbounds.results.answer import Answer, unlike
from inbounds.results.cover import Cover


def make_answer(
    plans: Sequence[Plan],
    places: Sequence[tuple[int, int]],
    answers: Sequence[Sequence[tuple[Answered, ...]]],
    request_id: str,
    confidence: float,
) -> Answer:
    """Put private answers beside what their groups are called."""
    labels = plans[0].question.labels
    rows, noise, intervals = [], [], []
    for at, codes in enumerate(plans[0].rows):
        cells = [answers[which][at][column] for which, column in places]
        names = (None if code is None else labels[i][code] for i, code in enumerate(codes))
        rows.append((*names, *(cell.value for cell in cells)))
        noise.append(tuple(cell.noise for cell in cells))
        intervals.append(tuple(cell.interval for cell in cells))
    cost = sum((plan.epsilon for plan in plans), Fraction(0))
    limit = row_limit([plan.question for plan in plans])
    columns = columns_of([plan.question for plan in plans], places)
    facts = (cost, request_id, limit, tuple(intervals), confidence)
    running = find_running_totals(plans[0].question, answers[0])
    return Answer(columns, tuple(rows), tuple(noise), *facts, running=running)


def columns_of(questions: Sequence[Question], places: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return what the columns of an answer are called, each by a name of its own."""
    names = tuple(group.column.name for group in questions[0].groups)
    for which, column in places:
        names = (*names, unlike(answer_names(questions[which].measure)[column], names))
    return names


def cover_intervals(
    kept: Answer, questions: Sequence[Question], places: Sequence[tuple[int, int]], measures: Sequence[Measure]
) -> Answer:
    """Return what was kept with what its intervals are about, and with those wider that include what is cut."""
    covers = tuple(find_cover(questions[which], column) for which, column in places)
    cuts = [CutRows.of(questions[which], column) for which, column in places]
    widened = [cut if cover is Cover.WITH_CUT_ROWS else None for cut, cover in zip(cuts, covers, strict=True)]
    intervals = tuple(
        tuple(ends if cut is None else cut.widen(ends) for ends, cut in zip(row, widened, strict=True))
        for row in kept.intervals
    )
    running, cut = kept.running, widened[0]
    if running is not None and cut is not None:
        running = running.widen(cut.widen)
    answer = replace(kept, covers=covers, intervals=intervals, running=running)
    return mark_whole_ranges(answer, questions, places, measures)
