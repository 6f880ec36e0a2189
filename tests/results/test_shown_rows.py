"""Long answers: people see what stands out of the noise, programs see everything."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

from inbounds.query import Answer
from inbounds.results.answer_json import write_answer
from inbounds.results.shown_rows import MOST_ROWS, choose_rows
from inbounds.server.pages.parts.answer_table import describe_answer


def answer(values: list[int | None], noise: float | None = 2.0) -> Answer:
    """Return counts by key, each with the same noise."""
    rows = tuple((f"k{place}", value) for place, value in enumerate(values))
    interval = ((0, 9),) if noise is not None else (None,)
    return Answer(("icd", "count"), rows, ((noise,),) * len(rows), Fraction(1), "r", None, (interval,) * len(rows))


def test_a_short_answer_is_shown_as_it_is() -> None:
    """Every row of an answer with few rows is shown, however small."""
    few = answer([0] * MOST_ROWS)
    assert list(choose_rows(few).places) == list(range(MOST_ROWS))
    assert choose_rows(few).rest is None
    assert "further keys" not in str(few)


def test_a_long_answer_shows_what_stands_out() -> None:
    """Of many rows those are shown that noise alone would hardly have put so far, and one line counts the others."""
    count = 5000
    far = int(2 * log(count / 0.05)) + 1
    many = answer([far - 1, far, -far, *[0] * (count - 3)])
    chosen = choose_rows(many)
    assert chosen.places == [1, 2]
    assert chosen.rest is not None
    assert chosen.rest.startswith("… 4,998 further keys within the noise")
    for text in (str(many), many._repr_html_()):
        assert "k1" in text
        assert "k0" not in text
        assert "4,998 further keys within the noise" in " ".join(text.split())
    assert len(many.data()) == len(write_answer(many)["rows"]) == count


def test_totals_and_what_has_no_noise_are_shown() -> None:
    """Totals are always shown; values without expected noise too, up to as many rows as are shown at all."""
    many = answer([0] * 2000)
    totalled = replace(many, rows=((None, 1), *many.rows[1:]))
    assert choose_rows(totalled).places == [0]
    ranked = choose_rows(answer([5] * 2000, noise=None))
    assert ranked.places == list(range(MOST_ROWS))
    assert ranked.rest == "… 1,000 more that stand out of it; the full answer is in rows, JSON and csv."


def test_a_page_shows_the_same_rows() -> None:
    """The table of a page has the rows that the text has, and the same line below."""
    many = answer([1000, *[0] * 3000])
    table = describe_answer(many)["table"]
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [["k0", "1,000"]]
    assert table["rest"] == choose_rows(many).rest
