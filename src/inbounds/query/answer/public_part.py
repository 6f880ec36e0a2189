"""The part of a question that is public: shown beside what is paid for, or all there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from inbounds.query.answer.apply_view import Viewer
from inbounds.query.answer.public_knowledge import public_values
from inbounds.query.answer.released.leaf import KeyRef, MeasureRef, PublicValue
from inbounds.query.answer.view import View, ViewColumn
from inbounds.query.question.clipping_warnings import clippings_of
from inbounds.query.question.impossible_condition import why_impossible
from inbounds.query.question.measure import Measure, NoMeasure
from inbounds.query.question.question import Question
from inbounds.results.answer import Answer


@dataclass(frozen=True)
class PublicPart:
    """What of a question is public before it is asked, and how all of it is shown."""

    questions: Sequence[Question]
    values: Mapping[Measure, PublicValue]
    view: View
    """What is shown, with public values in place of the measures that are public."""

    @classmethod
    def of(cls, questions: Sequence[Question], measures: Sequence[Measure], view: View) -> PublicPart:
        """Find out what of some measures is public."""
        values = public_values(questions[0], measures)
        if not values:
            return cls(questions, values, view)
        keys = (ViewColumn(KeyRef(group.column.node)) for group in questions[0].groups)
        columns = view.columns or (*keys, *(ViewColumn(MeasureRef(measure)) for measure in measures))
        public_view = replace(view, columns=columns).replace_measures(lambda ref: values.get(ref.measure, ref))
        return cls(questions, values, replace(public_view, columns=tuple(map(_name_column, public_view.columns))))

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def notice(self) -> str:
        """Say which measures are public."""
        are = "are" if len(self.values) > 1 else "is"
        names = ", ".join(measure.said for measure in self.values)
        return f"{names} {are} public knowledge, whatever the data: exact and free."

    @cached_property
    def why_impossible(self) -> str | None:
        """Why no row can be what is asked about, if that is so: then nothing has a value."""
        return next(filter(None, map(why_impossible, self.questions)), None)

    @property
    def keys(self) -> Answer:
        """The groups alone: nothing is charged, drawn, kept or looked at."""
        first = self.questions[0]
        keys = tuple(first.row_keys)
        nothing = ((),) * len(keys)
        names = tuple(group.column.name for group in first.groups)
        return Answer(names, keys, nothing, Fraction(0), "", None, nothing, measured=())

    def answer(self) -> Answer:
        """Return the answer to a question all of which is public."""
        answer = Viewer.of(self.keys, self.questions, ()).apply(self.view)
        return self.beside(replace(answer, kept=None))

    def beside(self, answer: Answer) -> Answer:
        """Return an answer that says which of its columns are public."""
        columns = zip(answer.columns, self.view.columns, strict=True)
        public = tuple(name for name, column in columns if isinstance(column.of, PublicValue))
        if NoMeasure() in self.values:
            public = answer.columns
        warnings = dict.fromkeys((*answer.warnings, *clippings_of(self.questions), self.notice))
        return replace(answer, warnings=tuple(warnings), public=public)


def _name_column(column: ViewColumn) -> ViewColumn:
    """Return a column by a name of its own, if it is a public value without one."""
    of = column.of
    return replace(column, name=of.name) if column.name is None and isinstance(of, PublicValue) else column
