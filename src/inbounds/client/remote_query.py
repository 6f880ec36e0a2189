"""A question to a dataset on a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.display.facts import FactSheet
from inbounds.errors import InvalidParameter, ServerRefused
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import shown
from inbounds.ledger.values.amount import format_amount, units
from inbounds.query.answer.answer_json import read_answer

if TYPE_CHECKING:
    from inbounds.client.remote_dataset import RemoteDataset
    from inbounds.query import Answer


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
        lines = [(name.replace("_", " "), _write_words(value)) for name, value in self.facts.items() if name != "parts"]
        for part in self.facts["parts"]:
            lines += [(name.replace("_", " "), _write_words(value)) for name, value in part.items()]
        return str(FactSheet([(name, text) for name, text in lines if text]))


@dataclass(frozen=True)
class RemoteQuery:
    """A query against a dataset on a server, ready to be explained or asked."""

    dataset: RemoteDataset
    text: str
    each_alone: bool = False

    def alone(self) -> RemoteQuery:
        """Return the query with each cell answered separately: less error in each, but totals need not add up."""
        return replace(self, each_alone=True)

    def explain(self, epsilon: Any, *, pooling: Any = None, weights: Sequence[Any] | None = None) -> RemoteExplanation:
        """Preview the query: sensitivity, bounds, mechanism and why, cost, expected noise, remaining budget."""
        body = self._make_body(epsilon, pooling, weights)
        return RemoteExplanation(self.dataset.connection.consult(f"{self.dataset.path}/explain", body))

    def ask(
        self,
        epsilon: Any,
        *,
        request_id: str | None = None,
        pooling: Any = None,
        weights: Sequence[Any] | None = None,
        confidence: float = CONFIDENCE,
        force: bool = False,
    ) -> Answer:
        """Charge you for the query, then return its private answers.  Public knowledge is free.

        Repeating a `request_id` returns the same answer for free, so a lost connection never costs twice.
        With `force`, a query whose answer would tell nothing is charged instead of refused.
        """
        body = self._make_body(epsilon, pooling, weights) | {"confidence": confidence}
        body |= {"force": True} if force else {}
        request = uuid4().hex if request_id is None else request_id
        return read_answer(self.dataset.connection.post(f"{self.dataset.path}/answers", body, request))

    def owned(self) -> Answer | None:
        """Return the answer that follows from your earlier ones, for free; None if it does not follow."""
        body = {"sql": self.text, "alone": self.each_alone}
        try:
            return read_answer(self.dataset.connection.consult(f"{self.dataset.path}/owned", body))
        except ServerRefused as refused:
            if refused.code == "not-owned":
                return None
            raise

    def _make_body(self, epsilon: Any, pooling: Any, weights: Sequence[Any] | None) -> dict[str, Any]:
        body: dict[str, Any] = {"sql": self.text, "epsilon": format_amount(units(epsilon)), "alone": self.each_alone}
        if pooling is not None:
            body["pooling"] = _write_number(pooling, "pooling")
        if weights is not None:
            body["weights"] = [_write_number(weight, "weights") for weight in weights]
        return body

    def __str__(self) -> str:
        return self.text


def _write_number(value: object, name: str) -> str:
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
