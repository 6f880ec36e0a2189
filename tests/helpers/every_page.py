"""Every page there is, by who looks at it; and what has to have happened so that there is something on it."""

from __future__ import annotations

from urllib.parse import quote

from inbounds.ledger import Ledger
from tests.helpers.page_visitor import Visit
from tests.helpers.served_hospital import BY_CLINIC, COUNT, Served

BY = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
BOX = "SELECT clinic, QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9) FROM visits GROUP BY clinic"

NOBODYS = [
    "/",
    "/plan",
    "/plan?bounds=%5B0%2C+inf%29+step+1&sensitivity=1&epsilon=1",
    "/plan?bounds=nonsense&sensitivity=1&epsilon=1",
    "/sign-in",
    "/sign-in?next=%2Fask",
    "/sign-in/provider",
    "/sign-in/provider/back",
    "/nothing",
]
ANALYSTS = [
    "/ask",
    "/ask/visits",
    f"/ask/visits?sql={quote(BY_CLINIC)}&epsilon=0.3",
    f"/ask/visits?sql={quote(COUNT)}&epsilon=1000",
    "/ask/visits?sql=DROP+TABLE+visits",
    "/ask/visits?measure=mean&column=age&where=clinic&compare=is&value=north&by=clinic",
    f"/ask/visits/owned?sql={quote(BY)}",
    f"/ask/visits/owned?sql={quote(COUNT)}",
    "/ask/births",
    "/answers",
    "/answers/by-clinic",
    "/answers/boxes",
    "/answers/lost",
    "/answers/of-nobody",
]
CUSTODIANS = ["/keep", "/keep/visits", "/keep/births", "/keep/keys", "/keep/visits/check", "/keep/nothing"]
AUDITORS = [
    "/verify",
    "/verify?head=nonsense",
    "/verify/entries",
    "/verify/entries/1",
    "/verify/entries/3",
    "/verify/entries/999999",
    "/verify/statement",
    "/verify/certificate",
]
PAGES = {None: NOBODYS, "ana": ANALYSTS, "carla": CUSTODIANS, "dora": AUDITORS}
"""Addresses by the person who looks."""

ALL = [(person, path) for person, paths in PAGES.items() for path in paths]


def fill(ana: Visit, carla: Visit) -> None:
    """Let an analyst ask and request, and a custodian decide, so that every page has something on it."""
    for key, sql in (("by-clinic", BY), ("boxes", BOX)):
        found = ana.post("/ask/visits", sql=sql, epsilon="0.5", key=key)
        assert found.status_code == 303, found.text
    for reason in ("a second look", "a third look", "a last look"):
        assert ana.post("/ask/visits/requests", amount="1", reason=reason).status_code == 303
    assert carla.post("/keep/requests/1", decision="grant", note="agreed").status_code == 303
    assert carla.post("/keep/requests/2", decision="decline", note="not now").status_code == 303
    assert carla.post("/keep/visits/grants", amount="2", note="for the summer").status_code == 303


def lose(served: Served) -> None:
    """Charge ana for a question that gets no answer, as when the server dies in between."""
    with Ledger.open(served.folder / "budget.db", create=False) as ledger:
        ledger.charge("visits", "ana", "0.1", request_id="ana/lost", note=COUNT)
