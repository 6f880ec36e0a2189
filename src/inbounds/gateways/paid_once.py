"""A question that is paid once: its request id follows from what is asked, so that repeating it is free.

A model that asks again, a dashboard that is refreshed and a request after a lost connection all send the same id, and
get the answer that the ledger has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from inbounds.errors import AnswerFailed, InvalidParameter, RequestReused, ServerRefused
from inbounds.exact.amount import format_amount, units
from inbounds.exact.rational import shown
from inbounds.gateways.allowance import Account

if TYPE_CHECKING:
    from inbounds.client import RemoteDataset
    from inbounds.query import Answer

BEGINNING = "once."
"""What these request ids begin with."""

LEAST = 1
"""What a public question is asked with, in units: it is free, and would cost next to nothing were it public no more."""

LONGEST_EDITION = 100

WORDS_ONLY = ("description",)
"""What a contract says in words: another wording does not make another question."""


@dataclass(frozen=True)
class Paid:
    """An answer, and what of it was charged just now."""

    answer: Answer
    charged: int
    """In units of epsilon; 0 if it was paid before, or is public."""


@dataclass(frozen=True)
class Question:
    """A question to a dataset at an epsilon."""

    dataset: RemoteDataset
    sql: str
    epsilon: Any
    edition: str = ""
    """Another edition is charged again, and drawn anew: of data that have changed, say."""

    def ask(self, account: Account) -> Paid:
        """Charge the question, unless that was done before, and return its answer.

        1. A cost above the cap of one question is refused, before anything is sent.  2. A free preview says what is
        asked, of which the request id is made.  3. What is new is taken from the session's allowance.  4. It is asked.
        """
        amount = units(self.epsilon)
        account.allowance.refuse_excess(amount)
        preview = self.dataset.sql(self.sql).explain(format_amount(amount)).data()
        request_id = self.request_id(preview, amount)
        if not Fraction(preview["epsilon"]):
            return Paid(self._send(request_id, LEAST), 0)
        if is_kept(self.dataset, request_id):
            return Paid(self._send(request_id, amount), 0)
        with account.spending(request_id, amount) as is_payer:
            return Paid(self._send(request_id, amount), amount if is_payer else 0)

    def _send(self, request_id: str, amount: int) -> Answer:
        try:
            return self.dataset.sql(self.sql).ask(format_amount(amount), request_id=request_id)
        except RequestReused:
            raise RequestReused(
                "this was asked before under other terms of the contract, so that its answer cannot be repeated; "
                "ask with another edition, which is charged again"
            ) from None

    def request_id(self, preview: Mapping[str, Any], amount: int) -> str:
        """Return the request id: the same one whenever the same is asked at this cost."""
        if len(self.edition) > LONGEST_EDITION:
            raise InvalidParameter(
                f"an edition has at most {LONGEST_EDITION} characters, got {shown(self.edition)}; choose a shorter one"
            )
        description = self.dataset.description
        public = json.dumps(_without_words(description["tables"]), sort_keys=True)
        parts = (self.dataset.name, public, preview["question"], format_amount(amount), self.edition)
        return BEGINNING + sha256(json.dumps(parts).encode()).hexdigest()[:40]


def is_kept(dataset: RemoteDataset, request_id: str) -> bool:
    """Return whether a request was charged before, whether or not it is answered yet."""
    try:
        dataset.answer(request_id)
    except AnswerFailed:
        return True
    except ServerRefused as refused:
        if refused.code == "not-found":
            return False
        if refused.code in ("not-answered", "request-running"):
            return True
        raise
    return True


def _without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_words(part) for name, part in value.items() if name not in WORDS_ONLY}
    return [_without_words(part) for part in value] if isinstance(value, list) else value
