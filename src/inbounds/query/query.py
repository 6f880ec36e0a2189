"""A query: what is asked of a dataset, put together step by step, and then explained or asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.display.listing import fold
from inbounds.display.progress import Progress, check_progress
from inbounds.display.text import cut_line
from inbounds.errors import InvalidParameter, InvalidQuestion, UselessQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.exact.surroundings import sheltered
from inbounds.query.answer.apply_view import Viewer
from inbounds.query.answer.boundary_remarks import remark_edges
from inbounds.query.answer.explanation import Explanation
from inbounds.query.answer.kept_answer import longest_kept
from inbounds.query.answer.made_answer import columns_of, cover_intervals, make_answer
from inbounds.query.answer.public_part import PublicPart
from inbounds.query.answer.released.leaf import KeyRef, MeasureRef, kind_of, kind_of_measure, measures_in
from inbounds.query.answer.released.needed_cells import IsOne, never, raise_confidence
from inbounds.query.answer.released.order import Order
from inbounds.query.answer.released.window import windows_in
from inbounds.query.answer.running_totals import running_place, running_window
from inbounds.query.answer.view import AS_RELEASED, View, ViewColumn, write_over
from inbounds.query.ask.charging import refuse_expensive, with_limit
from inbounds.query.ask.derive import derive
from inbounds.query.ask.epsilon_search import Cap, search_epsilon
from inbounds.query.ask.options import read_confidence, read_pooling, settle_cost
from inbounds.query.ask.quantile_intervals import (
    add_quantile_intervals,
    describe_at_once,
    describe_intervals,
    remark_quantiles,
)
from inbounds.query.ask.steps import Asking
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.node import Node
from inbounds.query.identity.question import identity_of
from inbounds.query.methods.contribution_bound import row_limit
from inbounds.query.methods.joint.running_table import RunningTable
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan, rho_of
from inbounds.query.question.impossible_condition import is_there
from inbounds.query.question.measure import Measure, NoMeasure
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Question, binned_call, sql_of
from inbounds.query.question.shared_measures import Quantiles, Shared
from inbounds.query.sql.shown.view import parse_released
from inbounds.results.answer import Answer
from inbounds.results.found_epsilon import FoundEpsilon
from inbounds.results.row_counts import read_row_count

if TYPE_CHECKING:
    from inbounds.ledger import Ledger
    from inbounds.query.dataset import Dataset


@dataclass(frozen=True)
class Query:
    """A query against a dataset, ready to be explained or asked: one question, or several about the same groups."""

    dataset: Dataset
    questions: tuple[Question, ...]
    places: tuple[tuple[int, int], ...] = ((0, 0),)
    """For each measure: which question answers it, and in which of its own columns."""
    measures: tuple[Measure, ...] = ()
    """What was asked for, if not simply what the questions measure."""
    shown: View = AS_RELEASED
    """What is shown of what is released."""
    stated: Fraction | None = field(default=None, compare=False, repr=False)
    """The epsilon that its SQL says it costs, if it does; it is no part of what is asked."""

    @classmethod
    def of(cls, dataset: Dataset, measures: tuple[Measure, ...]) -> Query:
        """Ask for some measures of all rows; those that go together share what they cost."""
        return _share(dataset, Question(dataset.table, measures[0]), measures, AS_RELEASED)

    @property
    def asked(self) -> tuple[Measure, ...]:
        """The measures that were asked for, in their order: each has a place."""
        return self.measures or tuple(question.measure for question in self.questions)

    @property
    def question(self) -> Question:
        """The question, if it is one."""
        if len(self.questions) != 1:
            raise ValueError(f"there are {len(self.questions)} questions, each with a share of epsilon; use questions")
        return self.questions[0]

    def where(self, condition: Condition | str) -> Query:
        """Return the query restricted to rows that meet a condition, given as an object or as SQL text."""
        fewer = self._change_each(lambda question: question.where(condition))
        if self.questions[0].sets is not None:
            return fewer
        # All of these rows may have a value that some of the others have not: then their number follows from its sums.
        shared = self._share(fewer.questions[0], self.asked)
        return fewer if len(shared.questions) == len(fewer.questions) else shared

    def by(self, *columns: str | Expression) -> Query:
        """Return the query for each category of some columns, even without rows, unless a condition rules it out."""
        return self._change_each(lambda question: question.by(*columns))

    def with_totals(self) -> Query:
        """Return the query with totals: over each grouping column, and over everything."""
        return self._split_measures()._change_each(lambda question: question.with_totals())

    def groupings(self, *sets: Iterable[str | Expression], rest: bool = False) -> Query:
        """Return the query for several groupings at once, each a set of columns; `()` is the total.

        Rows without a category of one of the columns count in none of them; with `rest` they count where that column
        is added up, so that each grouping counts what it counts by itself.
        """
        # Each is read for every measure, so what can be read once only is written out.
        columns = [names if isinstance(names, str) else tuple(names) for names in sets]
        return self._split_measures()._change_each(lambda question: question.with_sets(columns, rest=rest))

    def _split_measures(self) -> Query:
        """Return the same with every count and sum in a question of its own: each of them is a table that adds up."""
        return self._share(self.questions[0], self.asked, with_totals=True)

    def alone(self) -> Query:
        """Return the query with each cell answered separately: less error in each, but totals need not add up."""
        return self._change_each(lambda question: question.by_itself())

    def select(self, **columns: str) -> Query:
        """Return the query with other columns in its answer: `select(share="100.0 * count / 12")`.

        Each is an expression over the current columns of the answer, by name; grouping columns stay.  With OVER it may
        look at other rows of the answer: `select(change="count - LAG(count) OVER (ORDER BY month)")`.  This is free.
        """
        keys = tuple(ViewColumn(KeyRef(group.column.node)) for group in self.questions[0].groups)
        if self.shown.columns:
            keys = tuple(column for column in self.shown.columns if column.key is not None)
        selected = tuple(ViewColumn(self._read_expression(text, "a column"), name) for name, text in columns.items())
        for column in selected:
            if not measures_in(column.of) and not any(windows_in(column.of)):
                raise InvalidQuestion(f"a column must hold a measure, got {column.of}; name one of the answer's")
            if column.name in self.released_columns[: len(self.questions[0].groups)]:
                raise InvalidQuestion(f"{column.name} is the name of a group; give the column another one")
        return self._drop_unused(replace(self.shown, columns=(*keys, *selected)))

    def _drop_unused(self, view: View) -> Query:
        """Return the question for those of its measures only that are needed: what nobody sees is not paid for."""
        used = {measure for node in view.nodes for measure in measures_in(node)}
        if not used:
            raise InvalidQuestion("a measure must stay in the answer, got none; name one of its columns")
        measures = tuple(measure for measure in self.asked if measure in used)
        return replace(self, shown=view) if len(measures) == len(self.asked) else self._ask_only(measures, view)

    def _ask_only(self, measures: tuple[Measure, ...], view: View) -> Query:
        """Return the question for some of its measures only."""
        first = self.questions[0]
        return replace(self._share(first, measures, with_totals=first.sets is not None), shown=view)

    def _share(self, first: Question, measures: tuple[Measure, ...], *, with_totals: bool = False) -> Query:
        """Return the question for some measures of the rows and groups of another one."""
        shared = _share(self.dataset, first, measures, self.shown, with_totals=with_totals)
        return replace(shared, stated=self.stated)

    def having(self, condition: str) -> Query:
        """Return the query showing only rows whose released values meet a condition: `"count > 100"`.

        A condition on windows, such as `"RANK() OVER (ORDER BY count DESC) <= 3"`, comes after them, as by QUALIFY.
        """
        added = cast("Condition", self._read_expression(condition, "a condition", condition=True))
        if any(windows_in(added)):
            chosen = self.shown.qualify
            return replace(self, shown=replace(self.shown, qualify=added if chosen is None else chosen & added))
        before = self.shown.having
        return replace(self, shown=replace(self.shown, having=added if before is None else before & added))

    def order_by(self, expression: str, *, descending: bool = False, missing_first: bool = False) -> Query:
        """Return the query with its rows ordered by an expression, within any order given before."""
        order = Order(self._read_expression(expression, "an order"), descending, missing_first)
        return replace(self, shown=replace(self.shown, order=(*self.shown.order, order)))

    def limit(self, rows: int, offset: int = 0) -> Query:
        """Return the query showing at most `rows` rows, after skipping `offset`."""
        return replace(self, shown=replace(self.shown, limit=read_row_count(rows), offset=read_row_count(offset)))

    @property
    def released_columns(self) -> tuple[str, ...]:
        """What the columns are called that are released."""
        return columns_of(self.questions, self.places)

    def _read_expression(self, text: str, what: str, *, condition: bool = False) -> Node:
        """Read an expression over the columns of the answer, as it is now."""
        if self.shown.inner is not None:
            raise InvalidQuestion(
                f"a query with an inner SELECT is changed in its SQL, got {shown(text)}; write it there"
            )
        names: dict[str, Node] = {}
        for name, group in zip(self.released_columns, self.questions[0].groups, strict=False):
            names[name] = KeyRef(group.column.node, "bin" if group.has_bins else kind_of(group.column))
        kinds = [kind_of_measure(self.dataset.table.columns, measure) for measure in self.asked]
        for name, measure, kind in zip(self.released_columns[len(names) :], self.asked, kinds, strict=True):
            names[name] = MeasureRef(measure, kind)
        names |= {value.name: MeasureRef(value.measure, value.kind) for value in self.public.values.values()}
        names |= {column.name: column.of for column in self.shown.columns if column.name is not None}
        return parse_released(text, what, names, self.dataset.table.columns, condition=condition)

    def _change_each(self, change: Callable[[Question], Question]) -> Query:
        return replace(self, questions=tuple(change(question) for question in self.questions))

    @sheltered()
    def plan(self, epsilon: Any = None, *, pooling: Any = None) -> Plan:
        """Return how the question will be answered, if it is one; nothing is spent, and no row is looked at."""
        question = self.question if len(self.questions) > 1 else self._planned[0]
        return self.dataset.planned(question, self._settle(epsilon), read_pooling(pooling))

    def _settle(self, epsilon: Any) -> Fraction:
        """Return what it costs: the epsilon that is given, or the one in its SQL."""
        return settle_cost(epsilon, self.stated)

    @sheltered()
    def plans(
        self, epsilon: Any = None, *, pooling: Any = None, weights: Sequence[Any] | None = None
    ) -> tuple[Plan, ...]:
        """Return how each question will be answered, with its part of epsilon."""
        # What is public needs no plan, and epsilon is split between the rest only.
        cost, fixed = self._settle(epsilon), read_pooling(pooling)
        if self.public:
            paid, weights = self._paid, self._weights_of_paid(weights)
            return () if paid is None else paid.plans(cost, pooling=fixed, weights=weights)
        plans = tuple(
            self.dataset.planned(question, cost * part, fixed)
            for question, part in zip(self._planned, self._split_epsilon(weights), strict=True)
        )
        return self.dataset.share_statements(plans)

    @property
    def _planned(self) -> tuple[Question, ...]:
        """The questions as they are planned: if running totals are all that is shown, for these."""
        if len(self.asked) > 1 or (place := running_place(self.shown, self.questions[0])) is None:
            return self.questions
        return (replace(self.questions[0], running=place),)

    def epsilon_for(
        self, error: Any, *, rows: int | None = None, pooling: Any = None, weights: Sequence[Any] | None = None
    ) -> Fraction:
        """Return the least epsilon, as a short decimal, for which the expected error is at most `error`; free.

        * `error`: a number in the unit of the answer, or a text such as "2 %": of the public number of rows or units
          for counts and sums, of the range of possible answers for others, and of ranks for quantiles.
        * `rows`: how many rows are assumed in each group, where the error depends on that and it is not public.

        What `explain` predicts of every measure is then within, in the group where it is most.  It is a mean, no bound.
        """
        return self.find_epsilon(error, rows=rows, pooling=pooling, weights=weights).epsilon

    @sheltered()
    def find_epsilon(
        self, error: Any, *, rows: int | None = None, pooling: Any = None, weights: Sequence[Any] | None = None
    ) -> FoundEpsilon:
        """Return the same epsilon, with what is predicted at it in words."""
        cap = Cap.of(self.dataset)
        return search_epsilon(partial(self.plans, pooling=pooling, weights=weights), error, rows, cap)

    def _split_epsilon(self, weights: Sequence[Any] | None) -> list[Fraction]:
        """Return which part of epsilon each question has: all the same, or by the weights of what was asked for."""
        if weights is None:
            return [Fraction(1, len(self.questions))] * len(self.questions)
        exact = [as_written(weight, "a weight", InvalidParameter) for weight in weights]
        if len(exact) != len(self.places) or any(weight <= 0 for weight in exact):
            raise InvalidParameter(
                f"weights must be {len(self.places)} numbers above 0, one for each measure, got {shown(weights)}; "
                "correct them, or leave them out"
            )
        shares = [Fraction(0)] * len(self.questions)
        for weight, (which, _) in zip(exact, self.places, strict=True):
            shares[which] += weight / sum(exact)
        return shares

    @property
    def asked_text(self) -> str:
        """What is asked of the rows, in SQL."""
        return sql_of(self.questions)

    @property
    def facts(self) -> tuple[str, ...]:
        """What tells it from other questions: the contract, and one text for all spellings."""
        return self.dataset.identity, identity_of(self.questions)

    @property
    def earlier_facts(self) -> tuple[str, ...]:
        """The same until questions had one text in all spellings: it was the one that is shown."""
        return self.dataset.identity, self.asked_text

    @property
    def row_limit(self) -> str | None:
        """What the contribution bound does to its answers."""
        return row_limit(self.questions)

    def at_once(self, plans: Sequence[Plan]) -> int:
        """Return how many intervals there are, if all of them are to hold at once: no data tell that."""
        # The quantiles of a column have theirs by what happens together; one alone has none.  A running total has its
        # own beside that of its row.
        own = {
            (which, 0 if isinstance(self.questions[which].measure, Quantiles) else column)
            for which, column in self.places
            if not isinstance(self.questions[which].measure, Quantile)
        }
        of_row = [2 if isinstance(plan.answering, RunningTable) else 1 for plan in plans]
        return max(1, sum(of_row[which] * len(self.questions[which].rows) for which, _ in own))

    def confidences(self, confidence: float, plans: Sequence[Plan], *, simultaneous: bool = False) -> list[float]:
        """Return the confidence of each question's intervals: higher where several have to hold at once."""
        if simultaneous:
            return [raise_confidence(confidence, self.at_once(plans))] * len(self.questions)
        is_running = any(isinstance(plan.answering, RunningTable) for plan in plans)
        known = (running_window(self.shown, self.questions[0]),) if is_running else ()
        return [raise_confidence(confidence, at_once) for at_once in self.most_at_once(self.shown, *known)]

    def most_at_once(self, view: View, is_one: IsOne = never) -> list[int]:
        """Return for each question how many released numbers must lie in their intervals for one that it is in."""
        most = [1] * len(self.questions)
        of_measures = view.most_at_once(self.asked, len(self.questions[0].rows), is_one)
        for (which, _), at_once in zip(self.places, of_measures, strict=True):
            most[which] = max(most[which], at_once)
        return most

    def put_together(
        self,
        plans: Sequence[Plan],
        answers: Sequence[Sequence[tuple[Answered, ...]]],
        confidence: float,
        confidences: Sequence[float],
    ) -> Answer:
        """Return private answers to all questions as one table, as it is kept."""
        answers = add_quantile_intervals(plans, self.places, self.asked, answers, confidences)
        return make_answer(plans, self.places, answers, "", confidence)

    def longest(self, plans: Sequence[Plan], asked: Mapping[str, Any] | None) -> int:
        """Return how long the text of that table can get, whatever is drawn."""
        return longest_kept(plans, self.places, asked)

    def remarks(self, released: Answer) -> tuple[str, ...]:
        """Return what there is to say about the released numbers."""
        released = cover_intervals(released, self.questions, self.places, self.asked)
        quantiles = remark_quantiles(released, self.questions, self.places, self.asked)
        return *remark_edges(released, self.questions[0], self.asked), *quantiles

    # What is public already, and what is paid for.

    @property
    def paid(self) -> Query | None:
        """The question for what is not public; None if all of it is."""
        return self._paid if self.public else self

    @cached_property
    def public(self) -> PublicPart:
        """What of it is public before it is asked for."""
        return PublicPart.of(self.questions, self.asked, self.shown)

    @cached_property
    def _paid(self) -> Query | None:
        """The question for what is not public, which shows everything; None if all of it is public."""
        measures = tuple(measure for measure in self.asked if measure not in self.public.values)
        return self._ask_only(measures, self.public.view) if measures else None

    def _weights_of_paid(self, weights: Sequence[Any] | None) -> Sequence[Any] | None:
        """Return the weights of what is paid for, of those of everything."""
        if weights is None:
            return None
        self._split_epsilon(weights)  # which refuses others
        return [
            weight for weight, measure in zip(weights, self.asked, strict=True) if measure not in self.public.values
        ]

    @sheltered()
    def explain(
        self,
        epsilon: Any = None,
        *,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        analyst: str | None = None,
        ledger: Ledger | None = None,
        hidden: Callable[[str], bool] | None = None,
        simultaneous: bool = False,
    ) -> Explanation:
        """Preview the query: sensitivity, bounds, mechanism and why, cost, expected noise, row limit, statement.

        With `analyst`: also whether the answer follows for free from what that analyst owns; `ledger` is the dataset's,
        opened once more, for whoever does not want to wait for its charges, and `hidden` tells which requests have
        answers that nobody may see yet.  With `simultaneous`: how many intervals would hold at once.
        """
        plans = self.plans(epsilon, pooling=pooling, weights=weights)
        answer = None if analyst is None or not plans else self.owned(analyst, ledger, hidden)
        owned = None if answer is None else f"{analyst} already has this, as a sum or a part of {answer.request_id}"
        lasting = self.dataset.lasting(self._settle(epsilon), rho_of(plans)) if plans else None
        dialect, view = self.dataset.engine.dialect.name, self.shown.describe()
        view = None if NoMeasure() in self.asked else view  # then nothing is released
        explanation = Explanation.of(plans, dialect, owned, view, lasting, self.questions)
        explanation = replace(explanation, intervals=self.describe_intervals(plans, simultaneous=simultaneous))
        explanation = with_limit(explanation, self.dataset.price_limit)
        if not self.public:
            return explanation
        return replace(
            explanation, public=self.public.notice, useless=explanation.useless or self.public.why_impossible
        )

    def describe_intervals(self, plans: Sequence[Plan], *, simultaneous: bool) -> str | None:
        """Say what there is to know about intervals before asking; None if they simply are there, each by itself."""
        paid = self.paid
        if paid is None or not plans:
            return None
        said = describe_intervals(plans, paid.places, paid.asked)
        if simultaneous:
            said = [describe_at_once(paid.at_once(plans)), *said]
        return " ".join(said) or None

    @sheltered()
    def ask(  # noqa: PLR0913  each is a choice of whoever asks
        self,
        epsilon: Any = None,
        *,
        analyst: str,
        request_id: str | None = None,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        confidence: float = CONFIDENCE,
        simultaneous: bool = False,
        progress: Progress | None = None,
        force: bool = False,
    ) -> Answer:
        """Charge the analyst, then return private answers; public knowledge is free.

        * `epsilon`: what it costs; not needed if its SQL says so, WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5).
        * `request_id`: repeating one returns the stored answer for free.
        * `pooling`: fixed, from 0 to 1, instead of chosen for the least error.
        * `weights`: how epsilon is split between several measures; equally if not given.
        * `confidence`: the confidence level of the intervals, above 0 and below 1.
        * `simultaneous`: all intervals hold at once with that confidence, instead of each by itself; they are wider.
        * `progress`: a function that receives lines of text; by default a terminal shows them.
        * `force`: charge even for an answer that would tell nothing, which is otherwise refused.
        """
        fixed, level = read_pooling(pooling), read_confidence(confidence)
        check_progress(progress)
        if self.paid is not None:
            refuse_expensive(self.dataset, self._settle(epsilon), request_id)
        if not self.public:
            cost = self._settle(epsilon)
            choices = (fixed, weights, level, progress, force, simultaneous)
            return self._mark(Asking(self, cost, analyst, request_id, *choices).result())
        self.plans(epsilon, pooling=fixed, weights=weights)  # which refuses what cannot be asked, also for free
        if self._paid is None:
            if not force and self.public.why_impossible is not None:
                raise UselessQuestion(self.public.why_impossible)
            return self._mark(self.public.answer())
        paid = self._paid.ask(
            epsilon,
            analyst=analyst,
            request_id=request_id,
            pooling=fixed,
            weights=self._weights_of_paid(weights),
            confidence=level,
            simultaneous=simultaneous,
            progress=progress,
            force=force,
        )
        return self._mark(self.public.beside(paid))

    def _mark(self, answer: Answer) -> Answer:
        """Return an answer with the query that it answers, and whether it is about made-up rows."""
        return replace(self._with_practice(answer), sql=str(self))

    def _with_practice(self, answer: Answer) -> Answer:
        """Return an answer with whether it is about made-up rows."""
        practice, kept = self.dataset.is_practice, answer.kept
        return replace(answer, practice=practice, kept=None if kept is None else replace(kept, practice=practice))

    def view(self, released: Answer) -> Answer:
        """Return what was released as it is shown: columns, rows and their order."""
        released = cover_intervals(released, self.questions, self.places, self.asked)
        return self._with_practice(Viewer.of(released, self.questions, self.asked).apply(self.shown))

    @sheltered()
    def owned(
        self, analyst: str, ledger: Ledger | None = None, hidden: Callable[[str], bool] | None = None
    ) -> Answer | None:
        """Return the answer that follows from earlier answers of an analyst, for free; None if it does not follow.

        It is a sum or a part of a table that was released together and adds up; the data are not looked at.  Answers to
        requests that are `hidden` are passed over.  What is public is everybody's.
        """
        if self.public:
            if self._paid is None:
                return None if self.public.why_impossible is not None else self._with_practice(self.public.answer())
            rest = self._paid.owned(analyst, ledger, hidden)
            return None if rest is None else self.public.beside(rest)
        derived = derive(self, analyst, ledger, hidden)
        return None if derived is None else self._with_practice(derived)

    def __repr__(self) -> str:
        """Return what is asked, in one line."""
        return f"<Query {cut_line(str(self))}>"

    def _repr_html_(self) -> str:
        return fold(cut_line(str(self)), str(self))

    def __str__(self) -> str:
        """Return what is asked, and how it is shown, in SQL: equal questions give equal texts."""
        return self._write(self.shown)

    def _write(self, view: View) -> str:
        """Return what a SELECT asks and shows, in SQL."""
        if view.inner is not None:
            return write_over(view, self._write(view.inner))
        columns, binned = view.columns, binned_call(self.questions[0])
        if binned is not None:  # the call of a histogram gives its bins as well
            bins = KeyRef(self.questions[0].groups[0].column.node)
            columns = tuple(column for column in columns if column.of != bins)
        plain = MeasureRef(self.asked[0])
        selected = [
            str(column).replace(str(plain), binned, 1) if binned is not None and column.of == plain else str(column)
            for column in columns
        ]
        return " ".join([sql_of(self.questions, selected), *view.clauses])


def _share(
    dataset: Dataset, first: Question, measures: tuple[Measure, ...], view: View, *, with_totals: bool = False
) -> Query:
    """Ask for some measures of the rows and groups of a question; those that go together share what they cost."""
    shared = Shared.of(measures, partial(is_there, first.table, first.condition), with_totals=with_totals)
    questions = tuple(replace(first, measure=measure) for measure in shared.measures)
    return Query(dataset, questions, shared.places, measures, view)
