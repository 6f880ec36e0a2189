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
from inbounds.server.service.door import Serving, allowed, refusals

router = APIRouter(prefix="/v1/keys", tags=["keys"])

Managing = Annotated[Person, allowed(Action.MANAGE_KEYS)]


class KeyOut(BaseModel):
    """What is known of a key."""

    prefix: str
    person: str
    issued: str
    expires: str
    state: str = Field(description="valid, expired or revoked")


class NewKeyOut(KeyOut):
    """A key that was just issued."""

    key: str = Field(description="The key itself: shown now, and never again.")


class Issue(BaseModel):
    """A key to be issued."""

    model_config = ConfigDict(extra="forbid")
    person: str = Field(max_length=100, description="Somebody whom the custodian's file names.")
    days: Whole = Field(default=DAYS, ge=1, le=MOST_DAYS)


@router.get("", responses=refusals())
async def keys(service: Serving, person: Managing) -> list[KeyOut]:
    """List all keys, without themselves."""
    return [KeyOut(**_told(key)) for key in await run_in_threadpool(service.keys.issued)]


@router.post("", status_code=201, responses=refusals("invalid-parameter"))
async def issue(wanted: Issue, service: Serving, person: Managing) -> NewKeyOut:
    """Issue a key.  It is shown this once."""
    if wanted.person not in service.file.people:
        raise Problem("invalid-parameter", "the custodian's file names nobody so; add the person there first")
    text, key = await run_in_threadpool(service.keys.issue, wanted.person, wanted.days)
    return NewKeyOut(**_told(key), key=text)


@router.delete("/{prefix}", responses=refusals("not-found"))
async def revoke(prefix: Annotated[str, Path(pattern="^[0-9a-f]{12}$")], service: Serving, person: Managing) -> KeyOut:
    """Revoke a key, at once."""
    found = await run_in_threadpool(service.keys.revoke, prefix)
    if found is None:
        raise Problem("not-found", "there is no key with this prefix; list them")
    return KeyOut(**_told(found))


def _told(key: Key) -> dict[str, str]:
    facts = {"prefix": key.prefix, "person": key.person, "issued": key.issued.isoformat()}
    return {**facts, "expires": key.expires.isoformat(), "state": key.state(clock.now())}
