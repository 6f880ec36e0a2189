"""A question to a dataset on a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.client.written_select import WrittenSelect, write_condition
from inbounds.display.facts import FactSheet
from inbounds.display.listing import fold
from inbounds.display.text import cut_line
from inbounds.errors import InvalidParameter, InvalidQuestion, ServerRefused
from inbounds.exact.amount import format_amount, units
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import shown
from inbounds.results.answer import Answer
from inbounds.results.answer_json import read_answer
from inbounds.results.found_epsilon import FoundEpsilon
from inbounds.results.row_counts import read_assumed_rows, read_row_count
from inbounds.results.wanted_error import Wanted

if TYPE_CHECKING:
    from inbounds.client.remote_dataset import RemoteDataset
    from inbounds.query.expressions.condition import Condition
    from inbounds.query.expressions.expression import Expression


@dataclass(frozen=True)
class RemoteExplanation:
    """The server's preview of a query; it is free."""

    facts: dict[str, Any]

    @property
    def epsilon(self) -> Fraction:
        """The total cost (epsilon)."""
        return Fraction(self.facts["epsilon"])

    @property
    def fits(self) -> bool:
        """Whether the remaining budget is sufficient."""
        return bool(self.facts["fits"])

    @property
    def statement(self) -> str:
        """Empty: a server does not show the statements that will run."""
        return ""

    def data(self) -> dict[str, Any]:
        """Return it as a dictionary."""
        return self.facts

    def __str__(self) -> str:
        return str(self._sheet())

    def _repr_html_(self) -> str:
        return self._sheet().html()

    def _sheet(self) -> FactSheet:
        lines = [(name.replace("_", " "), _write_words(value)) for name, value in self.facts.items() if name != "parts"]
        for part in self.facts["parts"]:
            words = [(name, value) for name, value in part.items() if name != "expected_errors"]
            lines += [(name.replace("_", " "), _write_words(value)) for name, value in words]
        return FactSheet([(name, text) for name, text in lines if text])


@dataclass(frozen=True)
class RemoteQuery:
    """A query against a dataset on a server, ready to be explained or asked."""

    dataset: RemoteDataset
    text: str
    each_alone: bool = False
    written: WrittenSelect | None = None
    """The parts of it, if it was put together in Python."""

    @property
    def parts(self) -> WrittenSelect:
        """The parts of it; a query in SQL is changed in its text."""
        if self.written is None:
            raise InvalidQuestion("a query that was written in SQL is changed in its text; write the clause there")
        return self.written

    def _change(self, **parts: Any) -> RemoteQuery:
        changed = replace(self.parts, **parts)
        return replace(self, text=str(changed), written=changed)

    def where(self, condition: Condition | str) -> RemoteQuery:
        """Return the query restricted to rows that meet a condition, given as an object or as SQL text."""
        return self._change(conditions=(*self.parts.conditions, write_condition(condition)))

    def by(self, *columns: str | Expression) -> RemoteQuery:
        """Return the query for each category of some columns, even without rows, unless a condition rules it out."""
        keys = (*self.parts.keys, *map(self.dataset.write_column, columns))
        return self._change(keys=keys, grouped=None)

    def with_totals(self) -> RemoteQuery:
        """Return the query with totals: over each grouping column, and over everything."""
        keys = self.parts.keys
        if not keys:
            raise InvalidQuestion("totals need groups, and there are none; group by a column first")
        return self._change(grouped=_write_sets(dict.fromkeys((keys, *((key,) for key in keys), ()))))

    def groupings(self, *sets: Iterable[str | Expression]) -> RemoteQuery:
        """Return the query for several groupings at once, each a set of columns; `()` is the total."""
        named = [tuple(map(self.dataset.write_column, names)) for names in sets if not isinstance(names, str)]
        if not named or len(named) < len(sets):
            raise InvalidQuestion("a grouping is a set of columns, got something else; put its names in parentheses")
        keys = dict.fromkeys((*self.parts.keys, *(name for names in named for name in names)))
        return self._change(keys=tuple(keys), grouped=_write_sets(named))

    def having(self, condition: str) -> RemoteQuery:
        """Return the query showing only rows whose released values meet a condition: `"count > 100"`."""
        return self._change(having=(*self.parts.having, condition))

    def order_by(self, expression: str, *, descending: bool = False, missing_first: bool = False) -> RemoteQuery:
        """Return the query with its rows ordered by an expression, within any order given before."""
        order = f"{expression}{' DESC' if descending else ''}{' NULLS FIRST' if missing_first else ''}"
        return self._change(order=(*self.parts.order, order))

    def limit(self, rows: int, offset: int = 0) -> RemoteQuery:
        """Return the query showing at most `rows` rows, after skipping `offset`."""
        return self._change(limit=read_row_count(rows), offset=read_row_count(offset))

    def alone(self) -> RemoteQuery:
        """Return the query with each cell answered separately: less error in each, but totals need not add up."""
        return replace(self, each_alone=True)

    def explain(
        self,
        epsilon: Any = None,
        *,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        simultaneous: bool = False,
    ) -> RemoteExplanation:
        """Preview the query: sensitivity, bounds, mechanism and why, cost, expected noise, remaining budget."""
        body = self._make_body(epsilon, pooling, weights, simultaneous=simultaneous)
        return RemoteExplanation(self.dataset.connection.consult(f"{self.dataset.path}/explain", body))

    def epsilon_for(
        self, error: Any, *, rows: int | None = None, pooling: Any = None, weights: Sequence[Any] | None = None
    ) -> Fraction:
        """Return the least epsilon, as a short decimal, for which the expected error is at most `error`; free.

        * `error`: a number in the unit of the answer, or a text such as "2 %" of what is public.
        * `rows`: how many rows are assumed in each group, where the error depends on that and it is not public.
        """
        return self.find_epsilon(error, rows=rows, pooling=pooling, weights=weights).epsilon

    def find_epsilon(
        self, error: Any, *, rows: int | None = None, pooling: Any = None, weights: Sequence[Any] | None = None
    ) -> FoundEpsilon:
        """Return the same epsilon, with what is predicted at it in words."""
        wanted, assumed = Wanted.read(error), read_assumed_rows(rows)
        body = self._write_choices(pooling, weights) | {"error": str(wanted)}
        body |= {} if assumed is None else {"rows": assumed}
        facts = self.dataset.connection.consult(f"{self.dataset.path}/explain", body)
        return FoundEpsilon(Fraction(facts["epsilon"]), str(facts["wanted"]))

    def ask(
        self,
        epsilon: Any = None,
        *,
        request_id: str | None = None,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        confidence: float = CONFIDENCE,
        simultaneous: bool = False,
        force: bool = False,
    ) -> Answer:
        """Charge you for the query, then return its private answers.  Public knowledge is free.

        `epsilon` is not needed if its SQL says it.
        Repeating a `request_id` returns the same answer for free, so a lost connection never costs twice.
        With `simultaneous`, all intervals hold at once with the confidence, instead of each by itself.
        With `force`, a query whose answer would tell nothing is charged instead of refused.
        """
        body = self._make_body(epsilon, pooling, weights, simultaneous=simultaneous) | {"confidence": confidence}
        body |= {"force": True} if force else {}
        body |= {"practise": True} if self.dataset.is_practice else {}
        request = uuid4().hex if request_id is None else request_id
        answer = read_answer(self.dataset.connection.post(f"{self.dataset.path}/answers", body, request))
        return replace(answer, sql=self.text)

    def practise(
        self,
        epsilon: Any = None,
        *,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        confidence: float = CONFIDENCE,
    ) -> Answer:
        """Ask the same of made-up rows: the answer has the shape of a real one, is free, and tells nothing."""
        query = replace(self, dataset=self.dataset.practice())
        return query.ask(epsilon, pooling=pooling, weights=weights, confidence=confidence)

    def owned(self) -> Answer | None:
        """Return the answer that follows from your earlier ones, for free; None if it does not follow."""
        body = {"sql": self.text, "alone": self.each_alone}
        try:
            return read_answer(self.dataset.connection.consult(f"{self.dataset.path}/owned", body))
        except ServerRefused as refused:
            if refused.code == "not-owned":
                return None
            raise

    def _make_body(
        self, epsilon: Any, pooling: Any, weights: Sequence[Any] | None, *, simultaneous: bool
    ) -> dict[str, Any]:
        body = self._write_choices(pooling, weights)
        if epsilon is not None:  # else its SQL says it, or the server refuses it
            body["epsilon"] = format_amount(units(epsilon))
        return body | ({"simultaneous": True} if simultaneous else {})  # an older server knows nothing of it

    def _write_choices(self, pooling: Any, weights: Sequence[Any] | None) -> dict[str, Any]:
        body: dict[str, Any] = {"sql": self.text, "alone": self.each_alone}
        if pooling is not None:
            body["pooling"] = write_number(pooling, "pooling")
        if weights is not None:
            body["weights"] = [write_number(weight, "weights") for weight in weights]
        return body

    def __repr__(self) -> str:
        return f"<RemoteQuery {cut_line(self.text)}>"

    def _repr_html_(self) -> str:
        return fold(cut_line(self.text), self.text)

    def __str__(self) -> str:
        return self.text


def _write_sets(sets: Iterable[Iterable[str]]) -> str:
    written = (f"({', '.join(names)})" for names in sets)
    return f"GROUPING SETS ({', '.join(written)})"


def write_number(value: object, name: str) -> str:
    """Return a number as the server reads it."""
    decimal = typed_decimal(str(value))
    if decimal is None:
        raise InvalidParameter(f"{name} must be a finite decimal number, got {shown(value)}; write it like 2 or 0.5")
    return str(decimal)


def _write_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{name} in {bounds}" for name, bounds in value.items())
    return "" if value is None else str(value)
