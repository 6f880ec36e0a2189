"""The query form where one query may cost only so much."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.helpers.markup import faults
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.served_hospital import COUNT, build

LIMIT = '[people.uma]\nrole = "analyst"\ndatasets = ["visits", "births"]\nmax_epsilon_per_question = 0.2'


@pytest.fixture
def uma(tmp_path: Path) -> Iterator[Visit]:
    """Somebody whose queries may cost 0.2 each."""
    served = build(tmp_path / "hospital", more=LIMIT)
    yield visit(served, "uma")
    served.close()


def test_the_form_begins_at_the_limit_and_says_it(uma: Visit) -> None:
    """What is suggested can be asked; the limit stands beside the field, and tells the slider where to end."""
    page = uma.get(f"/ask/visits?sql={quote(COUNT)}")
    assert not faults(page.text)
    assert 'name="epsilon" value="0.2"' in page.text
    assert 'data-most="0.2"' in page.text
    assert "One query may cost at most 0.2." in page.text
    assert "<button>Run query (spends ε = 0.2)</button>" in page.text


def test_what_costs_more_cannot_be_run(uma: Visit) -> None:
    """The preview says why, its button does nothing, and a form that is sent all the same is refused."""
    page = uma.get(f"/ask/visits?sql={quote(COUNT)}&epsilon=0.3")
    assert not faults(page.text)
    assert "one query may cost at most 0.2 here" in page.text
    assert "<button disabled>Run query (spends ε = 0.3)</button>" in page.text
    sent = uma.post("/ask/visits", sql=COUNT, epsilon="0.3")
    assert sent.status_code == 402
    assert "ask with an epsilon of 0.2 or less" in sent.text.replace("&#39;", "'")
    assert uma.post("/ask/visits", sql=COUNT, epsilon="0.2").status_code == 303
