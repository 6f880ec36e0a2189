"""Inspecting: true figures of a table, for a custodian; as a query does, it takes a place and waits for its turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar, TypeVarTuple

from anyio import to_thread
from fastapi import Request

from inbounds.query import Dataset, Inspection
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem
from inbounds.server.service.door import limiter_of, service_of
from inbounds.server.service.service import Service

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

NO_OTHERS: Mapping[str, int] = MappingProxyType({})


async def run_inspection(
    request: Request, person: Person, work: Callable[[*Arguments], Result], *arguments: *Arguments
) -> Result:
    """Run some work that inspects tables, in one of the person's places for statements, and return its result."""
    service = service_of(request)
    most = service.file.limits.statements_at_once
    with service.claims.one_of(f"statement {person.name}", most) as free:
        if not free:
            raise Problem(
                "too-many-statements",
                f"the limit is {most} checks and queries per person at once; wait for one of yours to finish",
                headers={"Retry-After": "1"},
            )
        return await to_thread.run_sync(work, *arguments, limiter=limiter_of(request, "statements"))


def inspect_tables(service: Service, dataset: Dataset, beside: Mapping[str, int] = NO_OTHERS) -> Inspection:
    """Return the true figures of a dataset's tables; each statement has the time that a query has."""
    for name in dataset.tables.private:
        dataset.engine_of(name).statement_seconds = service.file.limits.statement_seconds
    return Inspection.of(dataset, beside=beside)
