"""Every page there is, by who looks at it; and what has to have happened so that there is something on it."""

from __future__ import annotations

from urllib.parse import quote

import httpx2

from inbounds.ledger import Ledger
from tests.helpers.page_visitor import Visit
from tests.helpers.reporting import propose, rename, share
from tests.helpers.served_hospital import BY_CLINIC, COUNT, As, Served

BY = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
BOX = "SELECT clinic, QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9) FROM visits GROUP BY clinic"

PUBLISHED, PROPOSED, REJECTED, LINK = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)
"""What reports and a link are called, once `report` has given them these names."""

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
    "/",
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
    "/answers/by-clinic?chart=line",
    "/answers/by-clinic?chart=table",
    "/reports",
    f"/reports/{PUBLISHED}",
    f"/reports/{PROPOSED}",
    f"/reports/{REJECTED}",
    f"/shared/{LINK}",
]
CUSTODIANS = ["/keep", "/keep/visits", "/keep/births", "/keep/keys", "/keep/visits/check", "/keep/nothing"]
CUSTODIANS += ["/keep/visits/contract", "/keep/visits/contract?draft=true", "/keep/births/contract"]
CUSTODIANS += ["/reports", f"/reports/{PUBLISHED}", f"/reports/{PROPOSED}", f"/shared/{LINK}"]
READERS = ["/reports", f"/reports/{PUBLISHED}", f"/reports/{PROPOSED}", f"/shared/{LINK}", "/ask", "/"]
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
PAGES = {None: NOBODYS, "ana": ANALYSTS, "carla": CUSTODIANS, "dora": AUDITORS, "rita": READERS}
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


def report(served: Served, ana: As | httpx2.Client, carla: As | httpx2.Client) -> None:
    """Let ana propose reports and share an answer, and carla publish one; then call them by the names above."""
    names = {}
    for edition, name in (("first", PUBLISHED), ("second", PROPOSED), ("third", REJECTED)):
        names[propose(ana, edition=edition, description="What happened in a year.")] = name
    first, _, third = names
    assert carla.post(f"/v1/reports/{first}/approve").status_code == 200
    assert carla.post(f"/v1/reports/{third}/reject", json={"note": "not now"}).status_code == 200
    names[share(ana, "by-clinic", "rita", "carla", title="Visits for rita")] = LINK
    rename(served, names)


def lose(served: Served) -> None:
    """Charge ana for a question that gets no answer, as when the server dies in between."""
    with Ledger.open(served.folder / "budget.db", create=False) as ledger:
        ledger.charge("visits", "ana", "0.1", request_id="ana/lost", note=COUNT)
