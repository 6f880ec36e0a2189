"""Planning: what a question would do may take seconds to find out, and nobody else waits for that.

Plans are made in threads of their own, not in those that every request needs to be let in, and one person has so many
at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from anyio import to_thread
from fastapi import Request

from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import Problem
from inbounds.server.service.door import limiter_of, service_of

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


async def run_planning(
    request: Request, person: Person, work: Callable[[*Arguments], Result], *arguments: *Arguments
) -> Result:
    """Run some work that plans a question, and return its result."""
    service = service_of(request)
    most = service.file.limits.plans_at_once
    with service.claims.one_of(f"plan {person.name}", most) as free:
        if not free:
            raise Problem(
                "too-many-statements",
                f"the limit is {most} previews per person at once; wait for one of yours to finish",
                headers={"Retry-After": "1"},
            )
        return await to_thread.run_sync(work, *arguments, limiter=limiter_of(request, "plans"))
