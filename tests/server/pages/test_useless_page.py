"""Pages show what tells nothing before it is paid for, and what is public for nothing."""

from __future__ import annotations

from urllib.parse import quote

from tests.helpers import page_words as words
from tests.helpers.markup import faults
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

IMPOSSIBLE = "SELECT COUNT(*) FROM visits WHERE age > 200"
PUBLIC = "SELECT AVG(age) FROM visits WHERE age = 40"


def test_a_question_that_tells_nothing_has_another_button(served: Served) -> None:
    """The page says why, and asks with force only from the button that says so."""
    ana = visit(served, "ana")
    page = ana.get(f"/ask/visits?sql={quote(IMPOSSIBLE)}&epsilon=0.5")
    assert not faults(page.text)
    assert "No row can meet" in page.text or "no row can meet" in page.text
    assert words.run_anyway("0.5") in page.text
    assert words.run("0.5") not in page.text
    assert "--force" not in page.text
    refused = ana.post("/ask/visits", sql=IMPOSSIBLE, epsilon="0.5", key="one")
    assert refused.status_code == 400
    assert "press “Run anyway”" in refused.text
    assert "--force" not in refused.text
    assert ana.post("/ask/visits", sql=IMPOSSIBLE, epsilon="0.5", key="one", force="yes").status_code == 303
    assert ana.get("/answers/one").status_code == 200


def test_a_public_answer_is_shown_for_nothing(served: Served) -> None:
    """The question says that it is free, and leads to the answer, which is nobody's alone."""
    ana = visit(served, "ana")
    page = ana.get(f"/ask/visits?sql={quote(PUBLIC)}&epsilon=0.5")
    assert not faults(page.text)
    assert words.FREE in page.text
    assert words.SHOW in page.text
    assert "noise.svg" not in page.text
    sent = ana.post("/ask/visits", sql=PUBLIC, epsilon="0.5", key="two")
    assert sent.status_code == 303
    shown = ana.get(sent.headers["location"])
    assert shown.status_code == 200
    assert not faults(shown.text)
    assert "public knowledge" in shown.text
    assert words.DERIVED not in shown.text
    assert "Random" not in shown.text
    assert "<td>40" in shown.text or ">40<" in shown.text
    assert ana.get(f"/ask/visits/noise.svg?sql={quote(PUBLIC)}&epsilon=0.5").status_code == 404
    assert "two" not in ana.get("/answers").text
