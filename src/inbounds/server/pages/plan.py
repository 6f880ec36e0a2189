"""Plan, for everybody: which mechanism for some bounds, how far off it is, and how near to the limit; without data."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.bounds import Bounds
from inbounds.choosing.comparison import Comparison, compare
from inbounds.choosing.recommendation import Recommendation, recommend
from inbounds.display.progress import silent
from inbounds.errors import InboundsError, InvalidParameter
from inbounds.exact.decimals import is_decimal
from inbounds.plot.pictures import densities
from inbounds.server.api.door import SLOWER, Serving
from inbounds.server.pages.figure import Looks, svg
from inbounds.server.pages.page import page, picture
from inbounds.server.pages.people_needed import people_needed
from inbounds.server.pages.visitor import Looking
from inbounds.server.problem import Problem
from inbounds.server.service import Service

router = APIRouter(include_in_schema=False)

Text = Annotated[str, Query(max_length=200)]
SECONDS = Fraction(3, 10)
"""How long the optimum is searched for, for the mean error and for the worst: the limit is told to a per cent or so."""

AT_ONCE = 1
"""So many plans are made at a time in one process; others wait, and questions do not."""

_MAKING = CapacityLimiter(AT_ONCE)


@dataclass(frozen=True)
class Plan:
    """What was found for some bounds, sensitivity and epsilon."""

    best: Recommendation
    compared: Comparison
    people: int | None
    """How many people's data an error of 1 % takes, where the bounds have two ends."""

    @property
    def truths(self) -> list[Any]:
        """True answers to show the law at: the least of those looked at, and one in the middle."""
        bounds = self.compared.bounds
        low, high = (bounds.low, bounds.high) if self.compared.window is None else self.compared.window
        first: Any = low
        return [first, first + (high - first) / 2]


@router.get("/")
@router.get("/plan")
async def plan_page(
    request: Request,
    service: Serving,
    looking: Looking,
    bounds: Text = "[0, 100]",
    sensitivity: Text = "2",
    epsilon: Text = "0.5",
) -> Response:
    """Recommend a mechanism, and compare all of them."""
    fields = {"bounds": bounds, "sensitivity": sensitivity, "epsilon": epsilon}
    try:
        found = await _made(request, service, bounds, sensitivity, epsilon)
    except InboundsError as error:
        return page(request, "plan", looking, status=400, plan=None, problem=str(error), fields=fields)
    return page(request, "plan", looking, plan=found, problem=None, fields=fields)


@router.get("/plan/law.svg")
async def law(
    request: Request, service: Serving, look: Looks, bounds: Text, sensitivity: Text, epsilon: Text
) -> Response:
    """Draw what is released at a few true values; what is impossible is shaded."""
    found = await _made(request, service, bounds, sensitivity, epsilon)

    def draw(axes: Any) -> object:
        drawn = densities(found.best.mechanism, found.truths, axes=axes)
        axes.set_title("")
        axes.set_ylabel("odds")
        axes.get_legend().remove()
        handles = axes.get_legend_handles_labels()
        columns = 1 if look.narrow else 2
        drawn.legend(*handles, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
        return drawn

    return picture(await run_in_threadpool(svg, draw, look))


async def _made(request: Request, service: Service, bounds: str, sensitivity: str, epsilon: str) -> Plan:
    """Return a plan; whoever is not signed in can have so many a minute."""
    address = None if request.client is None else request.client.host
    if not await run_in_threadpool(service.rates.take, f"plan {address}"):
        raise Problem("too-many", "too many plans at once; wait a little", headers=SLOWER)
    return await to_thread.run_sync(_plan, bounds.strip(), sensitivity.strip(), epsilon.strip(), limiter=_MAKING)


@lru_cache(maxsize=256)
def _plan(bounds: str, sensitivity: str, epsilon: str) -> Plan:
    possible = Bounds.parse(bounds)
    if possible.is_dates:
        raise InvalidParameter("this page plans for numbers, got days; use inbounds plan for them")
    most, spent = _number(sensitivity, "the sensitivity"), _number(epsilon, "epsilon")
    compared = compare(possible, most, spent, time_limit=SECONDS, progress=silent)
    best = recommend(possible, most, spent, even_timing=True, optimum=False, progress=silent)
    return Plan(best, compared, people_needed(possible, spent))


def _number(text: str, name: str) -> Decimal:
    if not is_decimal(text):
        raise InvalidParameter(f"{name} must be a number, got {text[:40]!r}; write it like 0.5")
    return Decimal(text)
