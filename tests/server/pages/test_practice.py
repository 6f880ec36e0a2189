"""A query is tried on practice data from the page, free and clearly marked."""

from __future__ import annotations

from urllib.parse import quote

from inbounds.results.answer import PRACTICE
from tests.helpers.markup import faults
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

MEAN = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


def test_the_page_has_a_button_that_costs_nothing(served: Served) -> None:
    """The preview leads to an answer on made-up rows, which says so, and no query of anybody is listed for it."""
    ana = visit(served, "ana")
    assert "Try on practice data (free)" in ana.get(f"/ask/visits?sql={quote(MEAN)}&epsilon=0.5").text
    before = ana.get("/answers").text
    page = ana.post("/ask/visits/practice", sql=MEAN, epsilon="0.5")
    assert page.status_code == 200
    assert not faults(page.text)
    assert PRACTICE in page.text
    assert "Nothing was spent" in page.text
    assert ana.get("/answers").text == before


def test_a_forged_form_is_refused(served: Served) -> None:
    """The form carries the token of the session, as others do."""
    ana = visit(served, "ana")
    assert ana.post("/ask/visits/practice", sql=MEAN, epsilon="0.5", token="forged").status_code == 403
    assert ana.post("/ask/visits/practice", sql="DROP TABLE visits", epsilon="0.5").status_code == 400
