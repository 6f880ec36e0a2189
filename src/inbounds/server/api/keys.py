"""Keys: who has which, issued and revoked by the custodian."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
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
    return [KeyOut(**_told(key)) for key in await run_in_threadpool(service.keys.issued)]


@router.post("", summary="Issue an API key", status_code=201, responses=refusals("invalid-parameter"))
async def issue(wanted: Issue, service: Serving, person: Managing) -> NewKeyOut:
    """Issue an API key. It is shown only once."""
    if wanted.person not in service.file.people:
        raise Problem("invalid-parameter", "the custodian's file has no person of this name; add them there first")
    text, key = await run_in_threadpool(service.keys.issue, wanted.person, wanted.days)
    return NewKeyOut(**_told(key), key=text)


@router.delete("/{prefix}", summary="Revoke an API key", responses=refusals("not-found"))
async def revoke(prefix: Annotated[str, Path(pattern="^[0-9a-f]{12}$")], service: Serving, person: Managing) -> KeyOut:
    """Revoke an API key immediately."""
    found = await run_in_threadpool(service.keys.revoke, prefix)
    if found is None:
        raise Problem("not-found", "no API key has this prefix; list the keys to find it")
    return KeyOut(**_told(found))


def _told(key: Key) -> dict[str, str]:
    facts = {"prefix": key.prefix, "person": key.person, "issued": key.issued.isoformat()}
    return {**facts, "expires": key.expires.isoformat(), "state": key.state(clock.now())}
