"""A budget that refreshes, over the network: its period, all periods together, grants, and what it adds up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from inbounds.ledger.record import clock
from tests.helpers.markup import faults
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import COUNT, Served, build

ADDING_UP = "ε = 2 each month is up to 5 a year about the same people: privacy loss adds up, to at most 5 in all"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what sets the clock of the ledger."""
    return lambda day: monkeypatch.setattr(clock, "now", lambda: datetime.fromisoformat(day).replace(tzinfo=UTC))


@pytest.fixture
def monthly(tmp_path: Path, at: Callable[[str], None]) -> Iterator[Served]:
    """A hospital with 2 each month, 1.5 for each analyst, and 5 in all."""
    at("2026-03-31")
    found = build(tmp_path / "hospital", total="2", per_analyst='1.5\nrefresh = "monthly"\nlifetime = 5')
    yield found
    found.close()


def test_a_budget_says_its_period_and_all_of_them(monthly: Served, at: Callable[[str], None]) -> None:
    """What is spent and left is of this month; the sum over all months stands beside it."""
    ana = monthly.person("ana")
    assert ana.ask("one", COUNT, "1.5").status_code == 200
    refused = ana.ask("two", COUNT, "0.5")
    assert (refused.status_code, refused.json()["left_analyst"]) == (402, "0")
    assert "wait until then" in refused.json()["detail"]
    at("2026-04-01")
    told = ana.post("/v1/datasets/visits/explain", json={"sql": COUNT, "epsilon": "1"}).json()
    assert (told["fits"], told["left_afterwards"]) == (True, "0.5")
    assert ana.ask("two", COUNT, "1").status_code == 200
    budget = ana.get("/v1/datasets/visits/budget").json()
    assert (budget["own"]["spent"], budget["total"]["left"], budget["lifetime"]["spent"]) == ("1", "1", "2.5")
    period = {"name": "2026-04", "refresh": "monthly", "begins": "2026-04-01", "until": "2026-05-01"}
    assert budget["period"] == {**period, "adding_up": ADDING_UP}
    births = monthly.person("eve").get("/v1/datasets/births/budget").json()
    assert (births["period"], births["lifetime"]) == (None, None)
    assert monthly.person("dora").get("/v1/ledger/verification").json()["ok"]


def test_grants_are_for_the_period_or_for_all_of_them(monthly: Served, at: Callable[[str], None]) -> None:
    """A grant goes with its month; one to the lifetime stays."""
    carla = monthly.person("carla")
    monthly.person("ana").get("/v1/datasets/visits/budget")
    more = carla.post("/v1/datasets/visits/grants", json={"amount": "1", "note": "a survey"})
    assert (more.status_code, more.json()["cap"]) == (201, "3")
    ever = carla.post("/v1/datasets/visits/grants", json={"amount": "3", "note": "a year more", "lifetime": True})
    assert (ever.status_code, ever.json()["cap"]) == (201, "8")
    both = {"amount": "1", "note": "x", "lifetime": True, "analyst": "ana"}
    assert carla.post("/v1/datasets/visits/grants", json=both).json()["code"] == "invalid-parameter"
    refused = carla.post("/v1/datasets/births/grants", json={"amount": "1", "note": "x", "lifetime": True})
    assert refused.json()["code"] == "ledger-conflict"
    at("2026-04-01")
    budget = carla.get("/v1/datasets/visits/budget").json()
    assert (budget["total"]["cap"], budget["lifetime"]["cap"]) == ("2", "8")


def test_pages_say_when_it_refreshes_and_what_it_adds_up_to(monthly: Served, at: Callable[[str], None]) -> None:
    """Analysts, custodians and auditors see the period, the day it ends, and the sum over all of them."""
    ana, carla, dora = (visit(monthly, name) for name in ("ana", "carla", "dora"))
    monthly.person("ana").ask("one", COUNT, "1.5")
    at("2026-04-01")
    monthly.person("ana").ask("two", COUNT, "1")
    for visitor, pages in ((ana, ("/ask", "/ask/visits")), (carla, ("/keep", "/keep/visits"))):
        for path in pages:
            page = visitor.get(path)
            assert not faults(page.text), path
            assert ADDING_UP in page.text
            assert "2026-05-01" in page.text
    assert "Your budget in 2026-04: ε 1 of 1.5 used" in ana.get("/ask/visits").text
    kept = carla.get("/keep/visits").text
    assert '<th scope="row">all periods</th>' in kept
    assert carla.get("/keep/visits/balances.svg").status_code == 200
    assert carla.post("/keep/visits/grants", amount="1", analyst=" ", note="a year more").status_code == 303
    assert "to all periods" in carla.get("/keep/visits").text
    statement = dora.get("/verify/statement").text
    assert not faults(statement)
    assert "all periods" in statement
    assert "2026-04" in statement
