"""Plan, for everybody: which mechanism for some bounds, how far off it is, and how near to the limit; without data."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
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
from inbounds.exact.decimals import typed_decimal
from inbounds.plot.pictures import densities
from inbounds.privacy.claim import Promise
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import page, page_in_two, picture, rendered
from inbounds.server.pages.parts.people_needed import people_needed
from inbounds.server.pages.pictures.figure import Looks, svg
from inbounds.server.pages.visitor import Looking, Visitor
from inbounds.server.service.door import SLOWER, Serving, address_of
from inbounds.server.service.service import Service

router = APIRouter(include_in_schema=False)

Text = Annotated[str, Query(max_length=200)]
SECONDS = Fraction(3, 10)
"""How long the optimum is searched for, for the mean error and for the worst: the limit is told to a per cent or so."""

MOST_SPANS = 8
"""Of bounds on this page: a plan for more takes longer than a visitor waits."""

AT_ONCE = 1
"""So many plans are made at a time in one process; others wait, and questions do not."""

PART = 1 / 12
"""A new plan takes so much of what a visitor may have in a minute; one that was made before is shown for nothing."""

MOST_KEPT = 256

_MAKING = CapacityLimiter(AT_ONCE)
_MADE: dict[Asked, Plan] = {}


@dataclass(frozen=True)
class Asked:
    """What a plan is wanted for."""

    bounds: Bounds
    sensitivity: Decimal
    epsilon: Decimal

    @classmethod
    def of(cls, bounds: str, sensitivity: str, epsilon: str) -> Asked:
        """Read what was typed, or refuse it."""
        possible = Bounds.parse(bounds.strip())
        if possible.is_dates:
            raise InvalidParameter("this page plans for numbers, got dates; use the command inbounds plan")
        if (spans := len(possible.ends) // 2) > MOST_SPANS:
            raise InvalidParameter(
                f"this page plans for up to {MOST_SPANS} ranges, got {spans}; use the command inbounds plan"
            )
        found = cls(possible, _number(sensitivity, "the sensitivity"), _number(epsilon, "the privacy cost"))
        Promise.of(found.bounds, found.sensitivity, found.epsilon, "standard", 0, trusted=False)  # or it is refused
        return found


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
    """Recommend a mechanism, and compare all of them: a plan that nobody has made before takes a while."""
    fields = {"bounds": bounds, "sensitivity": sensitivity, "epsilon": epsilon}
    try:
        asked = Asked.of(bounds, sensitivity, epsilon)
    except InboundsError as error:
        return page(request, "plan", looking, status=400, problem=str(error), fields=fields)
    await _refuse_too_many(request, service, looking, asked)
    return page_in_two(request, "plan", looking, _shown(asked, fields), problem=None, fields=fields)


async def _shown(asked: Asked, fields: dict[str, str]) -> str:
    """Return what is found for what was asked, as it stands on the page."""
    try:
        found = await _made(asked)
    except InboundsError as error:
        return rendered("problem", problem=str(error))
    return rendered("plan_found", plan=found, fields=fields)


@router.get("/plan/law.svg")
async def law(
    request: Request,
    service: Serving,
    looking: Looking,
    look: Looks,
    bounds: Text,
    sensitivity: Text,
    epsilon: Text,
) -> Response:
    """Draw what is released at a few true values; what is impossible is shaded."""
    asked = Asked.of(bounds, sensitivity, epsilon)
    await _refuse_too_many(request, service, looking, asked)
    found = await _made(asked)

    def draw(axes: Any) -> object:
        drawn = densities(found.best.mechanism, found.truths, axes=axes)
        axes.set_title("")
        axes.set_xlabel("released value")
        axes.get_legend().remove()
        handles = axes.get_legend_handles_labels()
        columns = 1 if look.narrow else 2
        drawn.legend(*handles, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
        return drawn

    return picture(await run_in_threadpool(svg, draw, look))


async def _refuse_too_many(request: Request, service: Service, looking: Visitor | None, asked: Asked) -> None:
    """Refuse whoever wants too many new plans a minute: by name or, if not signed in, by address."""
    who = f"address {address_of(request)}" if looking is None else f"person {looking.person.name}"
    if asked not in _MADE and not await run_in_threadpool(service.rates.take, f"plan of {who}", PART):
        raise Problem("too-many", "too many new plans in a minute; wait a moment", headers=SLOWER)


async def _made(asked: Asked) -> Plan:
    found = _MADE.get(asked)
    return await to_thread.run_sync(_plan, asked, limiter=_MAKING) if found is None else found


def _plan(asked: Asked) -> Plan:
    if asked in _MADE:  # while this one waited
        return _MADE[asked]
    setting = asked.bounds, asked.sensitivity, asked.epsilon
    compared = compare(*setting, time_limit=SECONDS, progress=silent)
    best = recommend(*setting, even_timing=True, optimum=False, progress=silent)
    if len(_MADE) >= MOST_KEPT:
        _MADE.clear()
    found = _MADE[asked] = Plan(best, compared, people_needed(asked.bounds, asked.epsilon))
    return found


def _number(text: str, name: str) -> Decimal:
    found = typed_decimal(text)
    if found is None:
        raise InvalidParameter(f"{name} must be a number, got {text[:40]!r}; enter one such as 0.5")
    return found
