"""The page of a report: one file that needs nothing, in which every name is a text, and which stays short."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.publish import Report
from inbounds.publish.destinations import verify, write
from inbounds.publish.destinations.page.chart import NONE, charts_of
from inbounds.publish.destinations.page.figures import Figures, write_epsilon, write_noise
from inbounds.publish.destinations.page.markup import visible
from inbounds.publish.destinations.page.scale import Scale
from inbounds.publish.destinations.page.whole_page import make_page
from inbounds.query import Answer
from tests.helpers.markup import Markup
from tests.helpers.published_reports import CLINICS, HOSTILE, PRACTICE, WAITS, YEAR, of_many_rows

EXPECTED = re.compile(
    "a style stands|<d[td]> stands in <div>|<a> leads elsewhere: 'data:text/csv;|there are \\d+ <title>"
)
"""A page that loads nothing has its style and its tables inside; facts in boxes and titles of pictures are HTML."""


def faults(page: str) -> list[str]:
    """Return what a reader that forgives nothing finds, without what is meant."""
    return [fault for fault in Markup(page).faults if not EXPECTED.match(fault)]


@pytest.mark.parametrize("report", [YEAR, PRACTICE, of_many_rows(2000)], ids=["year", "practice", "many"])
def test_the_page_is_good_html(report: Report) -> None:
    """A reader that forgives nothing finds nothing."""
    assert faults(make_page(report)) == []


def test_the_page_loads_and_runs_nothing() -> None:
    """There is no script, no address of anything elsewhere, and a policy that forbids both."""
    page = make_page(YEAR)
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert re.findall(r"<(script|link|iframe|object|embed|img|base|form)\b", page) == []
    assert {found[:5] for found in re.findall(r'(?:href|src)="([^"]*)"', page)} <= {"#cont", "#tabl", "data:"}
    assert re.findall(r"url\(|@import", page) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_every_name_is_a_text(text: str) -> None:
    """What is called like markup, or has marks that turn the direction, is shown as what it is."""
    table = replace(YEAR.tables[0], title=text, description=text, sql=text)
    page = make_page(replace(YEAR, title=text, dataset=text, analyst=text, edition=text, tables=(table,), name="year"))
    assert faults(page) == []
    for tag in ("<script", "<img", "</template><b>"):
        assert tag not in page
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.partition("<template")[0]
    assert page.count("</template>") == 1


def test_what_cannot_be_seen_is_written_out() -> None:
    """Marks that turn the direction are seen; joiners that letters need, and other blanks, stay."""
    assert visible("a\N{RIGHT-TO-LEFT OVERRIDE}b\x07") == "a\\u202eb\\x07"
    for text in ("می\N{ZERO WIDTH NON-JOINER}خواهم", "95\N{NO-BREAK SPACE}%", "é 漢"):
        assert visible(text) == text


@pytest.mark.slow
def test_a_long_table_is_folded(tmp_path: Path) -> None:
    """Of 10,000 rows the page shows those that stand out of the noise, and says where the others are."""
    report = of_many_rows(10_000)
    write(report, f"{tmp_path}/r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count("<tr>") == 2 + 100  # two heads; one row in a hundred stands out
    assert "Show 60 more rows" in page
    assert "9,900 of 10,000 rows are not on this page" in page
    assert verify(f"{tmp_path}/r.html").holds
    link = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]*)"', page)
    assert link is not None
    assert base64.b64decode(link[1]).count(b"\n") == 10_001


def test_the_same_report_makes_the_same_page() -> None:
    """A page has nothing in it but its report."""
    assert make_page(YEAR) == make_page(type(YEAR).read(YEAR.data()))


@pytest.mark.parametrize(
    ("noise", "value", "text"),
    [
        (2.345, 83.8123, "83.8"),
        (0.03, 0.12345, "0.123"),
        (250.0, 12345.6, "12,346"),
        (2.0, 12345, "12,345"),
        (2.0, -0.01, "0.0"),
        (2.0, -3, "\N{MINUS SIGN}3"),
        (None, 83.8123, "83.81"),
        (None, True, "yes"),
        (None, date(2026, 1, 1), "2026-01-01"),
    ],
)
def test_figures_have_the_digits_that_the_noise_leaves(noise: float | None, value: object, text: str) -> None:
    """A number is written to about a tenth of its noise, whole numbers as they are."""
    answer = Answer(("n",), ((value,),), ((noise,),), Fraction(1), "id", measured=(0,))
    assert Figures.of(answer, 0).write(value) == text


def test_costs_and_noise_are_written_shortly() -> None:
    """A cost is exact, and a fraction comes with about what it is; noise has two digits."""
    assert [write_epsilon(Fraction(1, 2)), write_epsilon(Fraction(1, 3))] == ["0.5", "0.3333 (1/3)"]
    assert [write_noise(noise) for noise in (0.0123, 4.24, 12.4, 99.7, 1234.5)] == [
        "0.012",
        "4.2",
        "12",
        "100",
        "1,234",
    ]


@pytest.mark.parametrize("values", [[0.0], [3.0, 700.0], [-5.0, 2.0], [1e-9], [-1e15, -3.0], [5e-324], [1e300]])
def test_an_axis_has_all_values_and_zero_on_it(values: list[float]) -> None:
    """Whatever is drawn is between the ends of its axis, and a few round values are written beside it."""
    scale = Scale.of(values, 100, 500)
    assert all(100 <= scale.place(value) <= 500 for value in [*values, 0.0])
    ticks = scale.ticks(5)
    assert 1 <= len(ticks) <= 7
    assert len({words for _, words in ticks}) == len(ticks)


def test_charts_have_intervals_and_names() -> None:
    """Each chart is an image with a title for those who do not see it, once wide and once narrow, without totals."""
    (bars,) = charts_of(YEAR.tables[0], "t")
    assert bars.count('class="bar"') == 2 * 3
    assert bars.count('class="whisker"') == 2 * 3
    assert "95 % interval (noise only)" in bars
    (line,) = charts_of(YEAR.tables[1], "t")
    assert line.count('class="band"') == 2
    assert line.count("<svg") == line.count('role="img"') == line.count("<title") == 2
    assert charts_of(replace(YEAR.tables[0], chart=NONE), "t") == []
    assert 'class="line"' not in charts_of(replace(YEAR.tables[1], chart="bars"), "t")[0]


def test_groups_over_time_have_a_panel_each() -> None:
    """Numbers by group and month are lines, one for each group, on one axis."""
    rows = tuple((clinic, date(2026, month, 1), month) for clinic in ("north", "south") for month in range(1, 13))
    answer = replace(
        WAITS, columns=("clinic", "month", "n"), rows=rows, noise=((1.0,),) * 24, intervals=(((0, 9),),) * 24,
        measured=(2,), covers=CLINICS.covers,
    )  # fmt: skip
    (chart,) = charts_of(replace(YEAR.tables[0], answer=answer), "t")
    assert chart.count('class="line"') == 2 * 2
    assert chart.count(">north<") == chart.count(">south<") == 2


def test_where_nothing_was_learnt_there_is_no_number() -> None:
    """The noise beside an interval that says nothing is neither drawn nor written."""
    page = make_page(replace(YEAR, tables=(YEAR.tables[2],)))
    shown = page.partition("<template")[0]
    assert shown.count(">nothing learnt<") == 1
    assert '<data value="0.5">' not in shown
