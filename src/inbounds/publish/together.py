"""Which questions of a report are asked together, so that a number that stands in two of their tables is one number.

Questions about the same counts become one request for a table that adds up, at the sum of their epsilons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from inbounds.bounds.notation import write_end
from inbounds.display.figures import format_error
from inbounds.display.suggestion import list_names
from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.publish.asker import Asker, Preview
from inbounds.publish.groupings import Grouped, place_of
from inbounds.publish.report_file import ReportQuestion


@dataclass(frozen=True)
class Costed:
    """A question with its cost, and what it would tell if it were asked by itself."""

    question: ReportQuestion
    epsilon: Fraction
    preview: Preview

    @property
    def name(self) -> str:
        """Its name."""
        return self.question.name


@dataclass(frozen=True)
class PlannedQuestion:
    """A question as it will be asked."""

    question: ReportQuestion
    epsilon: Fraction
    """Its own cost; of questions that are asked together, its part."""
    sql: str
    """What is asked: of questions that are asked together, with the groupings of all of them."""
    error: float | None
    """Its expected error, where that is one number."""
    words: str
    """Its expected error in words."""
    alone_error: float | None = None
    """What it would be by itself, if the question is asked with others."""
    warnings: tuple[str, ...] = ()
    too_expensive: str | None = None
    """Why it is refused, unless it is paid already: it costs more than one question may."""
    comes_first: bool = False
    """Whether it is to be asked before the others: what is kept then has intervals that hold at once, as it needs."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.question.name


@dataclass(frozen=True)
class Together:
    """Questions that are one request."""

    questions: tuple[PlannedQuestion, ...]
    identity: tuple[str, ...]
    """What makes it this request, whatever is shown of it."""
    text: str
    """What is asked of the rows, for people."""
    keys: tuple[str, ...] = ()
    """What all of them are grouped by: rows without a category of one of these are in no table."""
    is_public: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its questions."""
        return tuple(question.name for question in self.questions)

    @property
    def epsilon(self) -> Fraction:
        """What all of them cost."""
        return sum((question.epsilon for question in self.questions), Fraction(0))


def arrange(
    asker: Asker, asked: Sequence[Costed], is_paid: Callable[[Together], bool], *, consistent: bool
) -> tuple[list[Together], list[str]]:
    """Return the requests of a report, and why some questions are asked by themselves."""
    # Among questions that count the same, the first begins a request, and each of the others joins if that is
    # possible and leaves every wanted error; those that do not join begin another one.  What is paid already stays as
    # it is: questions that were added behind it join each other, for with them all of it would be charged anew.
    read = {one.name: Grouped.read(one.question.sql) if _may_join(one, consistent) else None for one in asked}
    requests: list[Together] = []
    notes: list[str] = []
    left = list(asked)
    while left:
        first = left.pop(0)
        grouped = read[first.name]
        members = [first]
        request = _alone(asker, first)
        kept = (request, members) if is_paid(request) else None
        for other in [] if grouped is None else left:
            candidate = read[other.name]
            if grouped is None or candidate is None or candidate.counts != grouped.counts:
                continue
            trial = [*members, other]
            joined, note = _join(asker, trial, [_known(read, one) for one in trial])
            notes += [] if note is None else [note]
            if joined is not None:
                request, members = joined, trial
                kept = (request, members) if is_paid(request) else kept
        if kept is not None and kept[0] is not request:
            notes.append(_describe_added(members, kept[1]))
            request, members = kept
        left = [one for one in left if one not in members]
        requests.append(request)
    return requests, notes


def _may_join(one: Costed, consistent: bool) -> bool:
    """Return whether a question may be asked with others: a wanted error in per cent cannot be compared there."""
    return consistent and bool(one.preview.epsilon) and not isinstance(one.question.error, str)


def _known(read: Mapping[str, Grouped | None], one: Costed) -> Grouped:
    grouped = read[one.name]
    assert grouped is not None
    return grouped


def _alone(asker: Asker, one: Costed) -> Together:
    preview, question = one.preview, one.question
    planned = PlannedQuestion(
        question,
        one.epsilon,
        question.sql,
        _first_error(preview),
        preview.words,
        warnings=preview.warnings,
        too_expensive=preview.too_expensive,
    )
    identity = asker.identity(question.sql, preview)
    return Together((planned,), identity, preview.question, is_public=not preview.epsilon)


def _join(asker: Asker, trial: Sequence[Costed], grouped: Sequence[Grouped]) -> tuple[Together | None, str | None]:
    """Return some questions as one request, None if they cannot be; and why not, where that is worth saying."""
    epsilon = sum((one.epsilon for one in trial), Fraction(0))
    sqls = [one.shown_of(grouped) for one in grouped]
    try:
        previews = [asker.preview(sql, epsilon) for sql in sqls]
    except (InvalidQuestion, InvalidParameter):
        return None, None
    identities = {asker.identity(sql, preview) for sql, preview in zip(sqls, previews, strict=True)}
    measures = {preview.measures for preview in (*previews, *(one.preview for one in trial))}
    if len(identities) > 1 or len(measures) > 1 or any(preview.useless for preview in previews):
        return None, None
    if any(preview.too_expensive for preview in previews):
        return None, _describe_excess(trial, epsilon)
    errors = list(previews[0].errors.values())
    if len(previews[0].measures) != 1 or len(errors) < len({frozenset(one.keys) for one in grouped}):
        return None, None
    planned = []
    for one, its, sql in zip(trial, grouped, sqls, strict=True):
        error = errors[place_of(its, grouped)]
        wanted = one.question.error
        if isinstance(wanted, Fraction) and error > wanted:
            return None, _describe_parting(one, trial, error)
        planned.append(
            PlannedQuestion(
                one.question,
                one.epsilon,
                sql,
                error,
                f"{format_error(error)} on average, as predicted",
                _first_error(one.preview),
                one.preview.warnings,
                comes_first=its.has_windows,
            )
        )
    keys = tuple(dict.fromkeys(key.text for one in grouped for key in one.keys))
    return Together(tuple(planned), identities.pop(), previews[0].question, keys), None


def _describe_excess(trial: Sequence[Costed], epsilon: Fraction) -> str:
    """Say that questions are one charge if they are released together, and that it would be too much for one."""
    last, others = trial[-1], [other.name for other in trial[:-1]]
    return (
        f"{last.name} is asked apart from {list_names(others)}, and their numbers need not agree: together they are "
        f"one query, and ε = {write_end(epsilon)} is more than one may cost"
    )


def _first_error(preview: Preview) -> float | None:
    """Return the expected error, where it is one number: that of the only grouping."""
    return next(iter(preview.errors.values()), None)


def _describe_added(members: Sequence[Costed], paid: Sequence[Costed]) -> str:
    """Say that questions do not join what is paid already."""
    before = [one.name for one in paid]
    added = [one.name for one in members if one.name not in before]
    are, which = ("is" if len(added) == 1 else "are"), ("is" if len(before) == 1 else "are")
    return (
        f"{list_names(added)} {are} asked apart from {list_names(before)}, which {which} paid already, and their "
        "numbers need not agree; under another -- edition: all of them are asked anew, together"
    )


def _describe_parting(one: Costed, trial: Sequence[Costed], error: float) -> str:
    last, others = trial[-1], [other.name for other in trial[:-1]]
    whose = "its" if one is last else f"{one.name}'s"
    return (
        f"{last.name} is asked apart from {list_names(others)}, and their numbers need not agree: together, {whose} "
        f"expected error would be {format_error(error)}, above the wanted one"
    )
