"""Keys: who has which, issued and revoked by the custodian."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics import clock
from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.people.key import Key
from inbounds.server.people.key_ring import DAYS, MOST_DAYS
from inbounds.server.service.amounts import Whole
from inbounds.server.service.door import Serving, refusals, require

router = APIRouter(prefix="/v1/keys", tags=["keys"])

Managing = Annotated[Person, require(Action.MANAGE_KEYS)]


PREFIX = "[0-9a-f]{12}"


def _check_prefix(value: str) -> str:
    if re.fullmatch(PREFIX, value) is None:  # and is not repeated: it may be a whole key, which is secret
        raise ValueError(
            "the prefix of an API key has 12 characters, 0 to 9 and a to f: those after inb_; find it with GET /v1/keys"
        )
    return value


Prefix = Annotated[str, Path(json_schema_extra={"pattern": f"^{PREFIX}$"}), AfterValidator(_check_prefix)]


class KeyOut(BaseModel):
    """An API key, without its secret."""

    prefix: str
    person: str
    issued: str
    expires: str
    state: str = Field(description="valid, expired or revoked")


class NewKeyOut(KeyOut):
    """A newly issued API key."""

    key: str = Field(description="The API key itself. It is shown only once.")


class Issue(BaseModel):
    """An API key to issue."""

    model_config = ConfigDict(extra="forbid")
    person: str = Field(max_length=100, description="A person named in the custodian's file.")
    days: Whole = Field(default=DAYS, ge=1, le=MOST_DAYS)


@router.get("", summary="List API keys", responses=refusals())
async def keys(service: Serving, person: Managing) -> list[KeyOut]:
    """List all API keys, without their secrets."""
    return [KeyOut(**_fields(key)) for key in await run_in_threadpool(service.keys.issued)]


@router.post("", summary="Issue an API key", status_code=201, responses=refusals("invalid-parameter"))
async def issue(body: Issue, service: Serving, person: Managing) -> NewKeyOut:
    """Issue an API key. It is shown only once."""
    if body.person not in service.file.people:
        raise Problem("invalid-parameter", "the custodian's file has no person of this name; add them there first")
    text, key = await run_in_threadpool(service.keys.issue, body.person, body.days)
    return NewKeyOut(**_fields(key), key=text)


@router.delete("/{prefix}", summary="Revoke an API key", responses=refusals("not-found"))
async def revoke(prefix: Prefix, service: Serving, person: Managing) -> KeyOut:
    """Revoke an API key immediately."""
    key = await run_in_threadpool(service.keys.revoke, prefix)
    if key is None:
        raise Problem("not-found", "no API key has this prefix; list the keys to find it")
    return KeyOut(**_fields(key))


def _fields(key: Key) -> dict[str, str]:
    return {
        "prefix": key.prefix,
        "person": key.person,
        "issued": key.issued.isoformat(),
        "expires": key.expires.isoformat(),
        "state": key.state(clock.now()),
    }
