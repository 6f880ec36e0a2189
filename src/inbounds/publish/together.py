"""Which questions of a report are asked together, so that a number that stands in two of their tables is one number.

Questions about the same counts become one request for a table that adds up, at the sum of their epsilons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from inbounds.bounds.notation import write_end
from inbounds.display.figures import format_error
from inbounds.display.suggestion import list_names
from inbounds.errors import InvalidParameter, InvalidQuestion
from inbounds.publish.asker import Asker, Identity, Preview
from inbounds.publish.charges import Charges
from inbounds.publish.groupings import Grouped, Joined
from inbounds.publish.report_file import ReportQuestion
from inbounds.publish.sql_tokens import Words

APART = "and their numbers need not agree"


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

    @property
    def wanted(self) -> Fraction | None:
        """The largest error that it may have together with others, if it says so."""
        return self.question.error if isinstance(self.question.error, Fraction) else None


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
    keys: tuple[str, ...] = ()
    """What it is grouped by, if it is asked with others."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.question.name


@dataclass(frozen=True)
class Together:
    """Questions that are one request."""

    questions: tuple[PlannedQuestion, ...]
    identity: Identity
    """What makes it this request, whatever is shown of it."""
    text: str
    """What is asked of the rows, for people."""
    keys: tuple[str, ...] = ()
    """What all of them are grouped by."""
    is_public: bool = False
    has_rest: bool = False
    """Whether rows without a category of one of these count in the tables that are not grouped by it; else in none."""
    is_count: bool = False
    """Whether rows are counted; else a column is added up."""
    whole: str | None = None
    """The question that shows all groupings as they are released, for what a total has beyond the groups."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its questions."""
        return tuple(question.name for question in self.questions)

    @property
    def epsilon(self) -> Fraction:
        """What all of them cost."""
        return sum((question.epsilon for question in self.questions), Fraction(0))


def arrange(
    asker: Asker, asked: Sequence[Costed], charges: Charges, *, consistent: bool
) -> tuple[list[Together], list[str]]:
    """Return the requests of a report, and why some questions are asked by themselves."""
    # Among questions that count the same, the first begins a request, and each of the others joins if that is
    # possible and leaves every wanted error; those that do not join begin another one.
    read = {one.name: Grouped.read(one.question.sql) if _may_join(one, consistent) else None for one in asked}
    same: dict[tuple[Words, Words, Words], list[_Asked]] = {}
    for one in asked:
        if (grouped := read[one.name]) is not None:
            same.setdefault(grouped.counts, []).append(_Asked(one, grouped))
    requests: list[Together] = []
    notes: list[str] = []
    done: set[str] = set()
    for first in asked:
        if first.name in done:
            continue
        grouped = read[first.name]
        alone = _alone(asker, first)
        if grouped is None:
            request = alone
        else:
            left = [other for other in same[grouped.counts] if other.name not in done]
            # Why others are asked apart is said once for all questions about the same counts.
            request, added, refused = _join(asker, charges, alone, left)
            notes += added
            notes += refused if first.name == same[grouped.counts][0].name else []
        done.update(request.names)
        requests.append(request)
    return requests, notes


def _may_join(one: Costed, consistent: bool) -> bool:
    """Return whether a question may be asked with others: a wanted error in per cent cannot be compared there."""
    return consistent and bool(one.preview.epsilon) and not isinstance(one.question.error, str)


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
    identity = asker.identity(question.sql, one.epsilon)
    return Together((planned,), identity, preview.question, is_public=not preview.epsilon)


def _first_error(preview: Preview) -> float | None:
    """Return the expected error, where it is one number: that of the only grouping."""
    return next(iter(preview.errors.values()), None)


# Joining.


@dataclass(frozen=True)
class _Asked:
    """A question that may be asked with others."""

    costed: Costed
    grouped: Grouped

    @property
    def name(self) -> str:
        return self.costed.name


@dataclass(frozen=True)
class _Refused:
    """A question that does not join others."""

    name: str
    why: str | None
    """None where it would not be the same count, so nobody expects numbers to agree."""
    is_final: bool = False
    """Whether no question with the same groups can join, whatever it costs."""


@dataclass(frozen=True)
class _Joining:
    """Some questions as one request, with a rest or, as before there was one, without."""

    asker: Asker
    members: tuple[_Asked, ...]
    joined: Joined
    epsilon: Fraction
    rest: bool
    errors: Mapping[int, float]
    """The expected errors of groupings, when they were last looked at: for the same groupings, at less epsilon."""

    @classmethod
    def begin(cls, asker: Asker, first: _Asked, *, rest: bool) -> _Joining:
        """Begin with one question."""
        return cls(asker, (first,), Joined().add(first.grouped), first.costed.epsilon, rest, {})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.members)

    def sql(self, member: _Asked) -> str:
        """Return the question of one of them for the groupings of all."""
        return self.joined.show(member.grouped, rest=self.rest)

    @property
    def identity(self) -> Identity:
        return self.asker.identity(self.sql(self.members[0]), self.epsilon)

    @property
    def preview(self) -> Preview:
        return self.asker.preview(self.sql(self.members[0]), self.epsilon)

    def add(self, other: _Asked) -> _Joining | _Refused:
        """Return these and one more, or why it is asked apart."""
        trial = replace(
            self,
            members=(*self.members, other),
            joined=self.joined.add(other.grouped),
            epsilon=self.epsilon + other.costed.epsilon,
        )
        try:
            return trial._check(other)
        except (InvalidQuestion, InvalidParameter) as problem:
            reason = str(problem).partition("\n")[0]
            return _Refused(other.name, reason, is_final=True)

    def _check(self, last: _Asked) -> _Joining | _Refused:
        """Return these, unless they are not one question, or one of them would have a larger error than wanted."""
        # The contract's own reading has the last word.  With more epsilon for the same groupings errors only fall, so
        # they are looked at again where there is another grouping, or where the last question wants less.
        if self.asker.identity(self.sql(last), self.epsilon) != self.identity:
            return _Refused(last.name, None)
        place, wanted = self.joined.place(last.grouped), last.costed.wanted
        if len(self.errors) == len(self.joined.sets) and (wanted is None or self.errors[place] <= wanted):
            return self
        preview = self.preview
        measures = {preview.measures, *(member.costed.preview.measures for member in self.members)}
        errors = dict(enumerate(list(preview.errors.values())[: len(self.joined.sets)]))
        if len(measures) > 1 or preview.useless or len(preview.measures) != 1 or len(errors) < len(self.joined.sets):
            return _Refused(last.name, None)
        for member in self.members:
            error, most = errors[self.joined.place(member.grouped)], member.costed.wanted
            if most is not None and error > most:
                whose = "its" if member is last else f"{member.name}'s"
                why = f"together, {whose} expected error would be {format_error(error)}, above the wanted one"
                return _Refused(last.name, why)
        return replace(self, errors=errors)

    def is_one(self) -> bool:
        """Return whether all of them are one question, also with the groupings that came later."""
        if len(self.members) == 1:
            return True
        try:
            return len({self.asker.identity(self.sql(member), self.epsilon) for member in self.members}) == 1
        except (InvalidQuestion, InvalidParameter):
            return False

    def finish(self) -> Together:
        """Return the request."""
        preview = self.preview
        errors = list(preview.errors.values())
        written = {key.words: key.text for key in self.joined.keys}
        planned = []
        for member in self.members:
            costed, error = member.costed, errors[self.joined.place(member.grouped)]
            planned.append(
                PlannedQuestion(
                    costed.question,
                    costed.epsilon,
                    self.sql(member),
                    error,
                    f"{format_error(error)} on average, as predicted",
                    _first_error(costed.preview),
                    costed.preview.warnings,
                    comes_first=member.grouped.has_windows,
                    keys=tuple(written[key.words] for key in member.grouped.keys),
                )
            )
        has_rest = preview.question.endswith(", REST())")  # else no row can lack what is added up
        has_total = frozenset() in self.joined.sets
        whole = self.joined.show_all(self.members[0].grouped, rest=self.rest) if has_rest and has_total else None
        keys = tuple(written.values())
        return Together(
            tuple(planned),
            self.identity,
            preview.question,
            keys,
            has_rest=has_rest,
            is_count=self.members[0].grouped.is_count,
            whole=whole,
        )


@dataclass(frozen=True)
class _Pass:
    """What became of questions about the same counts: the request of the first of them, and the others."""

    joining: _Joining
    refused: tuple[_Refused, ...]
    paid: _Joining | None
    """The most of them that were charged together before."""


def _join(
    asker: Asker, charges: Charges, alone: Together, asked: Sequence[_Asked]
) -> tuple[Together, list[str], list[str]]:
    """Return the request of the first question, with those that join it; why others that could do not; and the rest."""
    # What is paid already stays as it is, whatever one query may cost by now: questions that were added behind it join
    # each other, for with them all of it would be charged anew.  Before there was a rest, they were joined without one.
    most = asker.most_epsilon
    ways = (True, False) if charges.may_lack_rests else (True,)
    passes = [_try_all(asker, charges, asked, rest=rest) for rest in ways if charges.is_begun or most is None]
    kept = max((each.paid for each in passes if each.paid is not None), key=lambda each: len(each.names), default=None)
    capped = kept is None and most is not None
    fresh = _try_all(asker, charges, asked, rest=True, most=most) if capped else passes[0]
    found = next((each for each in passes if kept is not None and each.paid is kept), fresh).joining
    if kept is not None:
        request = kept.finish()
    elif len(found.names) == 1 or charges.has(alone.names, alone.identity, alone.epsilon):
        request = alone
    else:
        request = found.finish()
    added = [] if request.names == found.names else [_describe_added(found.names, request.names)]
    return request, added, _describe_refusals(fresh)


def _try_all(
    asker: Asker, charges: Charges, asked: Sequence[_Asked], *, rest: bool, most: Fraction | None = None
) -> _Pass:
    """Let all questions join the first that can, and that cost at most so much together."""
    found = _try_each(asker, charges, asked, rest=rest, most=most, thorough=False)
    return found if found.joining.is_one() else _try_each(asker, charges, asked, rest=rest, most=most, thorough=True)


def _try_each(
    asker: Asker, charges: Charges, asked: Sequence[_Asked], *, rest: bool, most: Fraction | None, thorough: bool
) -> _Pass:
    """The same; `thorough` looks at all of them again whenever one has joined."""
    joining, paid = _Joining.begin(asker, asked[0], rest=rest), None
    refused: list[_Refused] = []
    never: dict[object, str | None] = {}
    for other in asked[1:]:
        groups = other.grouped.columns
        result = _Refused(other.name, never[groups]) if groups in never else joining.add(other)
        if isinstance(result, _Joining) and thorough and not result.is_one():
            result = _Refused(other.name, None)
        if isinstance(result, _Joining) and most is not None and result.epsilon > most:
            result = _Refused(
                other.name,
                f"together they are one query, and ε = {write_end(result.epsilon)} is more than one may cost",
            )
        if isinstance(result, _Refused):
            refused.append(result)
            if result.is_final:
                never[groups] = result.why
            continue
        joining = result
        if charges.may_have(joining.names, joining.epsilon) and charges.has(
            joining.names, joining.identity, joining.epsilon
        ):
            paid = joining
    return _Pass(joining, tuple(refused), paid)


def _describe_refusals(found: _Pass) -> list[str]:
    """Say why questions do not join others, once for all that have the same reason."""
    reasons: dict[str, list[str]] = {}
    for refused in found.refused:
        if refused.why is not None:
            reasons.setdefault(refused.why, []).append(refused.name)
    others = list_names(found.joining.names)
    return [
        f"{list_names(names)} {'is' if len(names) == 1 else 'are'} asked apart from {others}, {APART}: {why}"
        for why, names in reasons.items()
    ]


def _describe_added(members: Sequence[str], paid: Sequence[str]) -> str:
    """Say that questions do not join what is paid already."""
    added = [name for name in members if name not in paid]
    are, which = ("is" if len(added) == 1 else "are"), ("is" if len(paid) == 1 else "are")
    return (
        f"{list_names(added)} {are} asked apart from {list_names(paid)}, which {which} paid already, {APART}; under "
        "another -- edition: all of them are asked anew, together"
    )
