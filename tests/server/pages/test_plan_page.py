"""The page of plans: it is there before the plan is, and says what is wrong with what was typed."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest
from fastapi import Request
from starlette.responses import StreamingResponse

from inbounds.errors import InvalidParameter
from inbounds.server.basics.problem import MISTAKE
from inbounds.server.pages import plan
from inbounds.server.pages.page import stream_page
from inbounds.server.pages.words import sentence
from tests.helpers import page_words as words
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served


def test_a_page_is_there_before_its_last_part(hospital: Served) -> None:
    """What stands before the part that takes a while is sent while it is made, and the rest after it."""
    scope = {"type": "http", "path": "/plan", "headers": [], "server": ("a", 80), "scheme": "http", "app": hospital.app}
    request = Request(scope)
    fields = {"bounds": "[0, 1]", "sensitivity": "1", "epsilon": "1"}

    async def sent() -> None:
        made = asyncio.get_running_loop().create_future()
        whole = stream_page(request, "plan", None, made, problem=None, fields=fields)
        assert isinstance(whole, StreamingResponse)
        parts = aiter(whole.body_iterator)
        assert str(await anext(parts)).rstrip().endswith(f'<p class="working" role="status">{words.COMPUTING}…</p>')
        made.set_result("<p>Found.</p>")
        assert await anext(parts) == "<p>Found.</p>"
        assert str(await anext(parts)).endswith("</html>")

    asyncio.run(sent())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"bounds": "[0, 100"}, "bounds"),
        ({"bounds": "[2026-01-01, 2026-12-31]"}, "plans for numbers"),
        ({"sensitivity": "two"}, "the sensitivity must be a number"),
        ({"sensitivity": "-1"}, "sensitivity must be"),
        ({"epsilon": "0"}, "epsilon must be from"),
        ({"epsilon": "half"}, "the privacy cost must be a number"),
        ({"bounds": " | ".join(f"[{2 * n}, {2 * n + 1}]" for n in range(9))}, "up to 8 ranges, got 9"),
    ],
)
def test_what_is_wrong_is_told_at_once(hospital: Served, wrong: dict[str, str], said: str) -> None:
    """It is a refusal, with what was typed in its place, and nothing is worked out."""
    found = visit(hospital).get(f"/plan?{urlencode({'bounds': '[0, 100]', 'sensitivity': '2', **wrong})}")
    assert found.status_code == 400
    assert said in found.text.lower()
    assert words.COMPUTING not in found.text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InvalidParameter("there is no plan for this; try another"), "There is no plan for this; try another."),
        (RuntimeError("Quillfeather"), sentence(MISTAKE.detail)),
    ],
)
def test_what_cannot_be_worked_out_is_told_on_the_page(
    hospital: Served, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """The page has begun by then: it says why, or that it was a mistake, and ends as every page does."""

    def fail(_: plan.PlanInputs) -> plan.MechanismPlan:
        raise error

    monkeypatch.setattr(plan, "_plan", fail)
    found = visit(hospital).get("/plan?bounds=%5B0%2C+77%5D")
    assert said in found.text
    assert "Quillfeather" not in found.text
    assert found.text.endswith("</html>")


def test_new_plans_are_limited_for_each_and_old_ones_are_not(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wants very many is refused, by address or by name; what was made before is shown to everybody."""
    made = plan._plan(plan.PlanInputs.of("[0, 10] step 1", "1", "1"))
    old = "/plan?bounds=%5B0%2C+10%5D+step+1&sensitivity=1&epsilon=1"

    def at_once(_: plan.PlanInputs) -> plan.MechanismPlan:
        return made

    monkeypatch.setattr(plan, "_plan", at_once)
    for who in (visit(served), visit(served, "ana")):
        found = [who.get(f"/plan?bounds=%5B0%2C+{high}%5D&sensitivity=1&epsilon=1") for high in range(101, 120)]
        assert [one.status_code for one in found[:12]] == [200] * 12
        assert found[-1].status_code == 429
        assert "new plans" in found[-1].text
        assert who.get(old).status_code == 200
