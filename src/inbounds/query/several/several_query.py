"""A query of several SELECTs: what they ask is released together, for one charge; the rest is computed for free."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.display.progress import Progress
from inbounds.errors import InvalidQuestion, UselessQuestion
from inbounds.query.answer.explanation import Explanation
from inbounds.query.answer.made_answer import cover_intervals
from inbounds.query.answer.view import FREE, View
from inbounds.query.ask.charging import with_limit
from inbounds.query.ask.options import read_confidence, read_pooling
from inbounds.query.ask.quantile_intervals import describe_at_once
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan, rho_of
from inbounds.query.query import Query
from inbounds.query.several.piece import Piece, Questions
from inbounds.query.several.stack import Stack
from inbounds.results.answer import Answer

if TYPE_CHECKING:
    from inbounds.ledger import Ledger
    from inbounds.query.dataset import Dataset
    from inbounds.query.question.question import Question


MOST_QUESTIONS = 50
"""So many questions may share one epsilon."""


@dataclass(frozen=True)
class SeveralQuery(Query):
    """A query of several SELECTs: each question has its share of epsilon, and the same question is asked once."""

    piece: Piece | None = None

    @classmethod
    def of_piece(cls, dataset: Dataset, piece: Piece) -> SeveralQuery:
        """Return the query for what a piece needs."""
        paid = [query.paid for query in piece.queries()]
        asked = {query.questions: query for query in paid if query is not None}
        questions, places, measures = list[Any](), list[tuple[int, int]](), list[Any]()
        for query in asked.values():
            places += [(len(questions) + which, column) for which, column in query.places]
            questions += query.questions
            measures += query.asked
        if len(questions) > MOST_QUESTIONS:
            raise InvalidQuestion(
                f"a query may ask at most {MOST_QUESTIONS} questions, got {len(questions)}; ask them in several queries"
            )
        sole = next(iter(asked.values())).dataset if len(asked) == 1 else dataset
        return cls(sole, tuple(questions), tuple(places), tuple(measures), piece=piece)

    @property
    def _piece(self) -> Piece:
        assert self.piece is not None
        return self.piece

    @cached_property
    def _stack(self) -> Stack:
        paid = (query.paid for query in self._piece.queries())
        return Stack(tuple({query.questions: query for query in paid if query is not None}.values()))

    @property
    def _notices(self) -> list[str]:
        """What of it is public, exact and free."""
        return list(dict.fromkeys(query.public.notice for query in self._piece.queries() if query.public))

    # Changing it.

    def _change_each(self, change: Callable[[Question], Question]) -> NoReturn:
        self._refuse_change()

    def _split_measures(self) -> NoReturn:
        self._refuse_change()

    def _read_expression(self, text: str, what: str, *, condition: bool = False) -> NoReturn:
        self._refuse_change()

    def _drop_unused(self, view: View) -> NoReturn:
        self._refuse_change()

    def limit(self, rows: int, offset: int = 0) -> NoReturn:
        """Refuse to change it: it is more than one SELECT."""
        self._refuse_change()

    def _refuse_change(self) -> NoReturn:
        raise InvalidQuestion("a query of several SELECTs is changed in its SQL; write it there")

    def alone(self) -> SeveralQuery:
        """Return the query with each cell answered separately."""
        return replace(SeveralQuery.of_piece(self.dataset, self._piece.without_adding_up()), stated=self.stated)

    # What asking needs to know of it.

    @property
    def asked_text(self) -> str:
        return "; ".join(query.asked_text for query in self._stack.queries)

    @property
    def facts(self) -> tuple[str, ...]:
        facts = tuple(fact for query in self._stack.queries for fact in query.facts)
        return (
            facts if len(self._stack.queries) == 1 else (*facts, *self._stack.columns)
        )  # by which they are told apart

    @property
    def earlier_facts(self) -> tuple[str, ...]:
        return tuple(fact for query in self._stack.queries for fact in query.earlier_facts)

    @property
    def released_columns(self) -> tuple[str, ...]:
        return self._stack.columns

    @property
    def row_limit(self) -> str | None:
        limits = [query.row_limit for query in self._stack.queries]
        return " ".join(dict.fromkeys(limit for limit in limits if limit is not None)) or None

    def confidences(self, confidence: float, plans: Sequence[Plan], *, simultaneous: bool = False) -> list[float]:
        if simultaneous:
            return super().confidences(confidence, plans, simultaneous=True)
        needed: dict[tuple[Questions, int], float] = {}
        self._piece.need(confidence, needed)
        return [
            needed[query.questions, which] for query in self._stack.queries for which in range(len(query.questions))
        ]

    def put_together(
        self,
        plans: Sequence[Plan],
        answers: Sequence[Sequence[tuple[Answered, ...]]],
        confidence: float,
        confidences: Sequence[float],
    ) -> Answer:
        return self._stack.answer(plans, answers, confidence, confidences)

    def longest(self, plans: Sequence[Plan], asked: Mapping[str, Any] | None) -> int:
        return self._stack.longest(plans, asked)

    def remarks(self, released: Answer) -> tuple[str, ...]:
        parts = zip(self._stack.queries, self._stack.take(released), strict=True)
        return tuple(remark for query, answer in parts for remark in query.remarks(answer))

    def plans(
        self, epsilon: Any = None, *, pooling: Any = None, weights: Sequence[Any] | None = None
    ) -> tuple[Plan, ...]:
        cost, fixed = self._settle(epsilon), read_pooling(pooling)
        for query in self._piece.queries():
            if query.paid is None:
                query.plans(cost, pooling=fixed)  # which refuses what cannot be asked, also for free
        if not self.questions:
            return ()
        planned: list[Plan] = []
        shares = self._split_epsilon(weights)
        for query in self._stack.queries:
            own = shares[len(planned) : len(planned) + len(query.questions)]
            pairs = zip(query.questions, own, strict=True)
            plans = tuple(query.dataset.planned(question, cost * part, fixed) for question, part in pairs)
            planned += query.dataset.share_statements(plans)
        return tuple(planned)

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
        plans, dialect = self.plans(epsilon, pooling=pooling, weights=weights), self.dataset.engine.dialect.name
        parts = zip(self._stack.queries, self._stack.split_plans(plans), strict=True)
        explained = [Explanation.of(own, dialect, asked=query.questions) for query, own in parts]
        whys = [why for query in self._piece.queries() if query.public and (why := query.public.why_impossible)]
        lasting = self.dataset.lasting(self._settle(epsilon), rho_of(plans)) if plans else None
        shown = f"{self._piece} ({FREE})"
        together = Explanation.together(explained, str(self), shown, lasting, self._notices, whys)
        together = replace(together, intervals=self.describe_intervals(plans, simultaneous=simultaneous))
        return with_limit(together, self.dataset.price_limit)

    def describe_intervals(self, plans: Sequence[Plan], *, simultaneous: bool) -> str | None:
        parts = zip(self._stack.queries, self._stack.split_plans(plans), strict=True)
        said = [text for query, own in parts if (text := query.describe_intervals(own, simultaneous=False))]
        if simultaneous and plans:
            said.insert(0, describe_at_once(self.at_once(plans)))
        return " ".join(said) or None

    def ask(  # noqa: PLR0913
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
        impossible = [query.public.why_impossible for query in self._piece.queries() if query.public]
        why = next(filter(None, impossible), None)
        if why is not None and not force:
            raise UselessQuestion(why)
        if self.questions:
            return super().ask(
                epsilon,
                analyst=analyst,
                request_id=request_id,
                pooling=pooling,
                weights=weights,
                confidence=confidence,
                simultaneous=simultaneous,
                progress=progress,
                force=force,
            )
        self.plans(epsilon, pooling=pooling)
        shown = self._piece.show({}, read_confidence(confidence))
        return self._mark(replace(shown, kept=None, warnings=tuple(self._notices)))

    def view(self, released: Answer) -> Answer:
        """Return what was released as it is shown."""
        parts = zip(self._stack.queries, self._stack.take(released), strict=True)
        answers = {query.questions: answer for query, answer in parts}
        shown = self._piece.show(answers, released.confidence)
        warnings = dict.fromkeys((*released.warnings, *shown.warnings, *self._notices))
        shown = replace(
            shown,
            epsilon=released.epsilon,
            request_id=released.request_id,
            row_limit=released.row_limit,
            warnings=tuple(warnings),
            remarks=released.remarks,
            note=released.note,
            simultaneous=released.simultaneous,
            asked=released.asked,
            kept=cover_intervals(released, self.questions, self.places, self.asked),
        )
        return self._with_practice(shown)

    def owned(
        self, analyst: str, ledger: Ledger | None = None, hidden: Callable[[str], bool] | None = None
    ) -> Answer | None:
        """Return the answer if all of it is public; what others answered is not put together."""
        if self.questions or any(query.public.why_impossible for query in self._piece.queries()):
            return None
        return self._with_practice(self._piece.show({}, CONFIDENCE))

    def __str__(self) -> str:
        return str(self._piece)
