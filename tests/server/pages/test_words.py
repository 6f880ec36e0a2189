"""What pages say is said of what is there: of one and of many, and how far off an answer without intervals is."""

from __future__ import annotations

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from inbounds.server.pages.parts.answer_table import RANKED
from inbounds.server.pages.words import sentence, shorten
from tests.helpers.every_page import BOX
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import COUNT, Served


def test_one_is_not_many(served: Served) -> None:
    """One question was asked and one more fits, or none and several: each is said as one says it."""
    ana, carla = visit(served, "ana"), visit(served, "carla")
    assert carla.get("/keep").text.count("0 queries run.") == 2
    assert ana.post("/ask/visits", sql=COUNT, epsilon="10", key="first").status_code == 303
    assert carla.get("/keep").text.count("1 query run.") == 1
    assert "1 more query like the last one" in ana.get("/ask").text
    assert "4 more queries like the last one" in carla.get("/keep").text


def test_an_answer_without_intervals_says_how_far_off_it_is(served: Served) -> None:
    """Quantiles have no intervals, and their page says beside them how far off in rank they are."""
    ana = visit(served, "ana")
    for key, sql in (("boxes", BOX), ("count", COUNT)):
        assert ana.post("/ask/visits", sql=sql, epsilon="0.5", key=key).status_code == 303
    before = [ana.get(f"/answers/{key}").text.partition("<table")[0] for key in ("boxes", "count")]
    (part,) = ana.get("/answers/boxes/answer.json").json()["parts"]
    assert f"{RANKED} {escape(sentence(part['expected_noise']))}" in before[0]
    assert RANKED not in before[1]


@given(st.text(st.characters(exclude_characters="…"), max_size=60), st.integers(3, 40))
def test_a_shortened_text_is_short(text: str, most: int) -> None:
    """It is never longer than it may be, is left alone where it fits, and keeps its beginning and its end."""
    found = shorten(text, most)
    if len(text) <= most:
        assert found == text
    else:
        assert len(found) == most
        begin, _, end = found.rpartition("…")
        assert text.startswith(begin)
        assert text.endswith(end)
