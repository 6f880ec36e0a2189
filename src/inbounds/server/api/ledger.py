"""The ledger: where its chain ends, what is in it, whether it was altered, and grants of more."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics.person import Action, Person
from inbounds.server.service.amounts import Whole
from inbounds.server.service.budgets import AccountOut, Grant, grant_budget
from inbounds.server.service.dataset_shape import Name
from inbounds.server.service.door import Serving, refusals, require
from inbounds.server.service.ledger_reading import read_ledger

router = APIRouter(prefix="/v1", tags=["ledger"])

Reading = Annotated[Person, require(Action.READ_LEDGER)]


class HeadOut(BaseModel):
    """Checkpoint: the head of the hash chain. Store it elsewhere and compare it later."""

    head: str
    entries: int


class PageOut(BaseModel):
    """Ledger entries, with every field that their digests cover."""

    entries: list[dict[str, Any]]
    next_after: int | None = Field(description="Pass this as `after` for the next page; null on the last page.")


class VerificationOut(BaseModel):
    """Result of checking every entry and every account."""

    ok: bool
    entries: int
    head: str
    problems: list[str]
    contracts: dict[str, str] = Field(description="Digest of the contract that each dataset is charged under.")


@router.get("/ledger/head", summary="Get the checkpoint", responses=refusals("ledger-unavailable"))
async def head(service: Serving, person: Reading) -> HeadOut:
    """Return the current checkpoint: the head of the hash chain."""
    checkpoint = await read_ledger(service, lambda ledger: ledger.head())
    return HeadOut(head=str(checkpoint), entries=checkpoint.seq)


@router.get(
    "/ledger/entries", summary="List ledger entries", responses=refusals("ledger-unavailable", "invalid-parameter")
)
async def entries(
    service: Serving,
    person: Reading,
    after: Annotated[Whole, Query(ge=0, le=2**62)] = 0,
    most: Annotated[Whole, Query(ge=1, le=1000)] = 100,
    dataset: Annotated[str | None, Query(max_length=200)] = None,
    analyst: Annotated[str | None, Query(max_length=200)] = None,
) -> PageOut:
    """List ledger entries in order. Kinds: open, contract, refresh, grant, delta, charge, answer, restore."""
    page = await read_ledger(service, lambda ledger: ledger.page(after, most, dataset, analyst))
    last = page.entries[-1].seq if len(page.entries) == most else None
    return PageOut(entries=page.data(), next_after=last)


@router.get(
    "/ledger/verification", summary="Verify the ledger", responses=refusals("ledger-unavailable", "invalid-parameter")
)
async def verification(
    service: Serving,
    person: Reading,
    saved: Annotated[str | None, Query(alias="head", max_length=100, description="A saved checkpoint.")] = None,
) -> VerificationOut:
    """Check every entry and every account and, if given, that the chain contains a saved checkpoint."""
    result = await read_ledger(service, lambda ledger: ledger.verify(saved))
    return VerificationOut(
        ok=result.ok,
        entries=result.entries,
        head=str(result.head),
        problems=list(result.problems),
        contracts={name: terms.digest for name, terms in result.terms.items()},
    )


@router.post(
    "/datasets/{name}/grants",
    summary="Grant budget",
    status_code=201,
    responses=refusals("not-found", "invalid-parameter", "ledger-conflict", "ledger-unavailable"),
)
async def grant(
    name: Name, body: Grant, service: Serving, person: Annotated[Person, require(Action.GRANT)]
) -> AccountOut:
    """Grant more budget to a dataset or to one of its analysts. A negative amount reduces it."""
    return await run_in_threadpool(grant_budget, service, name, body, person)
