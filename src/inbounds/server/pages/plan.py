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
from inbounds.server.pages.page import render, render_page, stream_page, svg_response
from inbounds.server.pages.parts.people_needed import people_needed
from inbounds.server.pages.pictures.figure import Looks, svg
from inbounds.server.pages.visitor import OptionalVisitor, Visitor
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

_LIMITER = CapacityLimiter(AT_ONCE)
_PLANS: dict[PlanInputs, MechanismPlan] = {}


@dataclass(frozen=True)
class PlanInputs:
    """What a plan is wanted for."""

    bounds: Bounds
    sensitivity: Decimal
    epsilon: Decimal

    @classmethod
    def of(cls, bounds: str, sensitivity: str, epsilon: str) -> PlanInputs:
        """Read what was typed, or refuse it."""
        possible = Bounds.parse(bounds.strip())
        if possible.is_dates:
            raise InvalidParameter("this page plans for numbers, got dates; use the command inbounds plan")
        if possible.values != "number":
            raise InvalidParameter("this page plans for numbers, got times; give seconds as numbers")
        if (spans := len(possible.ends) // 2) > MOST_SPANS:
            raise InvalidParameter(
                f"this page plans for up to {MOST_SPANS} ranges, got {spans}; use the command inbounds plan"
            )
        inputs = cls(possible, _number(sensitivity, "the sensitivity"), _number(epsilon, "the privacy cost"))
        Promise.of(inputs.bounds, inputs.sensitivity, inputs.epsilon, "standard", 0, trusted=False)  # or it is refused
        return inputs


@dataclass(frozen=True)
class MechanismPlan:
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


@router.get("/plan")
async def plan_page(
    request: Request,
    service: Serving,
    visitor: OptionalVisitor,
    bounds: Text = "[0, 100]",
    sensitivity: Text = "2",
    epsilon: Text = "0.5",
) -> Response:
    """Recommend a mechanism, and compare all of them: a plan that nobody has made before takes a while."""
    fields = {"bounds": bounds, "sensitivity": sensitivity, "epsilon": epsilon}
    try:
        inputs = PlanInputs.of(bounds, sensitivity, epsilon)
    except InboundsError as error:
        return render_page(request, "plan", visitor, status=400, problem=str(error), fields=fields)
    await _refuse_too_many(request, service, visitor, inputs)
    return stream_page(request, "plan", visitor, _render_plan(inputs, fields), problem=None, fields=fields)


async def _render_plan(inputs: PlanInputs, fields: dict[str, str]) -> str:
    """Return what is found for what was asked, as it stands on the page."""
    try:
        plan = await _find_plan(inputs)
    except InboundsError as error:
        return render("problem", problem=str(error))
    return render("plan_found", plan=plan, fields=fields)


@router.get("/plan/law.svg")
async def law(
    request: Request,
    service: Serving,
    visitor: OptionalVisitor,
    look: Looks,
    bounds: Text,
    sensitivity: Text,
    epsilon: Text,
) -> Response:
    """Draw what is released at a few true values; what is impossible is shaded."""
    inputs = PlanInputs.of(bounds, sensitivity, epsilon)
    await _refuse_too_many(request, service, visitor, inputs)
    plan = await _find_plan(inputs)

    def draw(axes: Any) -> object:
        drawn = densities(plan.best.mechanism, plan.truths, axes=axes)
        axes.set_title("")
        axes.set_xlabel("released value")
        axes.get_legend().remove()
        handles = axes.get_legend_handles_labels()
        columns = 1 if look.narrow else 2
        drawn.legend(*handles, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
        return drawn

    return svg_response(await run_in_threadpool(svg, draw, look))


@router.get("/plan/certificate.json")
async def certificate(
    request: Request, service: Serving, visitor: OptionalVisitor, bounds: Text, sensitivity: Text, epsilon: Text
) -> Response:
    """Return the proof of the mechanism that is recommended, for others to check."""
    inputs = PlanInputs.of(bounds, sensitivity, epsilon)
    await _refuse_too_many(request, service, visitor, inputs)
    plan = await _find_plan(inputs)
    headers = {"Content-Disposition": 'attachment; filename="certificate.json"'}
    text = await run_in_threadpool(plan.best.mechanism.certificate.to_json)
    return Response(text, media_type="application/json", headers=headers)


async def _refuse_too_many(request: Request, service: Service, visitor: Visitor | None, inputs: PlanInputs) -> None:
    """Refuse whoever wants too many new plans a minute: by name or, if not signed in, by address."""
    who = f"address {address_of(request)}" if visitor is None else f"person {visitor.person.name}"
    if inputs not in _PLANS and not await run_in_threadpool(service.rates.take, f"plan of {who}", PART):
        raise Problem("too-many", "too many new plans in a minute; wait a moment", headers=SLOWER)


async def _find_plan(inputs: PlanInputs) -> MechanismPlan:
    plan = _PLANS.get(inputs)
    return await to_thread.run_sync(_plan, inputs, limiter=_LIMITER) if plan is None else plan


def _plan(inputs: PlanInputs) -> MechanismPlan:
    if inputs in _PLANS:  # while this one waited
        return _PLANS[inputs]
    setting = inputs.bounds, inputs.sensitivity, inputs.epsilon
    compared = compare(*setting, time_limit=SECONDS, progress=silent)
    best = recommend(*setting, even_timing=True, optimum=False, progress=silent)
    if len(_PLANS) >= MOST_KEPT:  # so that visitors cannot fill the memory; a plan is made again in a moment
        _PLANS.clear()
    plan = _PLANS[inputs] = MechanismPlan(best, compared, people_needed(inputs.bounds, inputs.epsilon))
    return plan


def _number(text: str, name: str) -> Decimal:
    number = typed_decimal(text)
    if number is None:
        raise InvalidParameter(f"{name} must be a number, got {text[:40]!r}; enter one such as 0.5")
    return number
