"""A person's own questions: what they are called, and which of them are answered."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, BaseModel, Field

from inbounds.exact.amount import fraction
from inbounds.server.basics.person import Person
from inbounds.server.service.amounts import format_amount
from inbounds.server.service.asking import key_of
from inbounds.server.service.service import Service
from inbounds.server.service.stored_answers import is_finished

TOKEN = r"[A-Za-z0-9._~-]{1,80}"
"""An Idempotency-Key: no slash, so that a request id tells where the person's name ends."""


NEW_TOKEN = r"(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]?|\.[A-Za-z0-9_~-]|[A-Za-z0-9._~-]{3,80})"
"""One for a new question: neither `.` nor `..`, which in an address lead to another one."""


LETTERS = "1 to 80 of the letters A to Z and a to z, the digits 0 to 9, and - . _ ~"


def _check_id(value: str) -> str:
    if re.fullmatch(TOKEN, value) is None:
        raise ValueError(f"an Idempotency-Key has {LETTERS}; look it up in the list of your answers")
    return value


AnswerId = Annotated[
    str,
    Path(description="The Idempotency-Key the query was sent with.", json_schema_extra={"pattern": f"^{TOKEN}$"}),
    AfterValidator(_check_id),
]


class AskedOut(BaseModel):
    """A charged query."""

    number: int = Field(
        description="Its number among your own queries, from 1. For the next page, pass the last one as `after`."
    )
    id: str
    dataset: str
    asked_at: str
    epsilon: str
    question: str
    answered: bool


def answers_of(service: Service, person: Person, after: int, most: int) -> list[AskedOut]:
    """Return a person's own questions, in the order in which they were charged.

    They are counted by themselves: numbers of the ledger would tell whether another question was answered in between,
    and so, before its tick, how long it took.
    """
    with service.holdings.reading() as ledger:
        requests = list(ledger.requests(person.name, after, most))
    return [
        AskedOut(
            number=number,
            id=key_of(person, charge.request_id),
            dataset=charge.dataset,
            asked_at=charge.time,
            epsilon=format_amount(fraction(charge.amount)) or "0",
            question=charge.text,
            answered=is_finished(answer) and not service.claims.is_running(charge.request_id),
        )
        for number, (charge, answer) in enumerate(requests, after + 1)
    ]
