"""The form with a wanted error in place of epsilon."""

from __future__ import annotations

from urllib.parse import quote

from tests.helpers.markup import faults
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

COUNT = "SELECT COUNT(*) FROM visits WHERE age > 60"
MEAN = "SELECT AVG(age) FROM visits"


def test_the_page_finds_it_without_script(served: Served) -> None:
    """The form with a wanted error leads to a page that says the epsilon, and asks with it."""
    ana = visit(served, "ana")
    page = ana.get(f"/ask/visits?sql={quote(COUNT)}&epsilon=0.5&error=20&rows=")
    assert not faults(page.text)
    assert "is the least for an error of 20" in page.text
    epsilon = page.text.split("ε = ")[1].split(" ")[0]
    assert f'name="epsilon" value="{epsilon}"' in page.text
    refused = ana.get(f"/ask/visits?sql={quote(MEAN)}&epsilon=0.5&error={quote('2 %')}&rows=")
    assert "say how many rows to assume" in refused.text
    assert "is the least for an error" in ana.get(f"/ask/visits?sql={quote(MEAN)}&error={quote('2 %')}&rows=1000").text
    assert "must be a whole number" in ana.get(f"/ask/visits?sql={quote(MEAN)}&error=1&rows=many").text
