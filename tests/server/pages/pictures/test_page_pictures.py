"""Pictures on pages: each is an image that can be read, in light and in dark, or it is not there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from inbounds.plot.style import format_dates
from inbounds.server.pages.pictures.balances_picture import ALL, CAP
from inbounds.server.pages.pictures.figure import Look, svg
from tests.helpers.every_page import fill
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.served_hospital import Served
from tests.helpers.sparing import sparing
from tests.helpers.unwieldy_names import COLUMN, DATASET, DOLLARS, HIDDEN, PEOPLE, build_unwieldy

QUESTIONS = {
    "one number": "SELECT COUNT(*) FROM visits",
    "groups": "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    "a mean": "SELECT AVG(age) FROM visits",
    "quantiles": "SELECT QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9) FROM visits",
    "several": "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
    "totals": "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP(clinic)",
}


@pytest.mark.parametrize("seconds", [1, 30, 60, 90, 125, 150, 200, 290, 301, 1000, 9000, 10**5, 10**6, 10**7, 10**8])
def test_any_span_of_time_can_be_written(seconds: int) -> None:
    """An axis of any length has times below it, and nothing is warned of: here that would be an error."""
    begin = datetime(2026, 11, 19, 5, 8, 3, tzinfo=UTC)

    def draw(axes: Any) -> None:
        axes.plot([begin, begin + timedelta(seconds=seconds)], [0, 1])
        axes.set_xlim(begin, begin + timedelta(seconds=seconds))
        format_dates(axes)
        assert len(axes.get_xticks()) >= 1

    assert b"<svg" in svg(draw, Look(narrow=True))


@pytest.fixture(scope="module")
def everybody(hospital: Served) -> dict[str, Visit]:
    """Browsers of those who see pictures, after something has happened."""
    found = {name: visit(hospital, name) for name in ("ana", "ben", "carla")}
    fill(found["ana"], found["carla"])
    return found


def drawn(who: Visit, path: str) -> tuple[str, str]:
    """Return a picture in light and in dark; both are well-formed."""
    light, dark = (who.get(f"{path}{'&' if '?' in path else '?'}dark={value}") for value in ("false", "true"))
    for found in (light, dark):
        assert found.status_code == 200, found.text
        assert found.headers["content-type"] == "image/svg+xml"
        assert ElementTree.fromstring(found.text).tag.endswith("svg")
    return light.text, dark.text


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.01", "1", "1000"])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_noise_is_drawn_before_anything_is_asked(everybody: dict[str, Visit], asked: str, epsilon: str) -> None:
    """Every kind of question has its picture, however little or much it may cost, with colours for the dark."""
    light, dark = drawn(everybody["ana"], f"/ask/visits/noise.svg?sql={quote(QUESTIONS[asked])}&epsilon={epsilon}")
    assert light != dark


@pytest.mark.slow
@pytest.mark.parametrize("key", ["by-clinic", "boxes"])
def test_answers_are_drawn(everybody: dict[str, Visit], key: str) -> None:
    """Groups and quantiles have a picture, in both colours."""
    light, dark = drawn(everybody["ana"], f"/answers/{key}/chart.svg")
    assert light != dark


def test_what_cannot_be_drawn_is_not_there(everybody: dict[str, Visit]) -> None:
    """One number has no picture, and its page does not ask for one."""
    ben = everybody["ben"]
    assert ben.post("/ask/visits", sql=QUESTIONS["one number"], epsilon="0.5", key="one").status_code == 303
    assert ben.get("/answers/one/chart.svg").status_code == 404
    assert "chart.svg" not in ben.get("/answers/one").text


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["visits", "births"])
def test_balances_are_drawn(everybody: dict[str, Visit], dataset: str) -> None:
    """Balances have a picture, also where nothing was asked yet."""
    drawn(everybody["carla"], f"/keep/{dataset}/balances.svg")


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds", sparing(["[0, inf) step 1", "[0, 5] | [7, 20]", "[0, 100]", "(-inf, inf)", "[0, 3] step 1"], 2)
)
def test_a_law_is_drawn_for_all_bounds(hospital: Served, bounds: str) -> None:
    """Whatever is possible, what is released is drawn, and the page that shows it says how far off it is."""
    asked = f"bounds={quote(bounds)}&sensitivity=1&epsilon=1"
    drawn(visit(hospital), f"/plan/law.svg?{asked}")
    assert "Average error" in visit(hospital).get(f"/plan?{asked}").text


@pytest.fixture(scope="module")
def unwieldy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A hospital whose keys look like formulas, and an analyst's name like one to be hidden."""
    found = build_unwieldy(tmp_path_factory.mktemp("unwieldy"))
    yield found
    found.close()


MANY = "QUANTILES({}, 0.1, 0.25, 0.5, 0.75, 0.9)".format(f'"{COLUMN}"')


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["COUNT(*)", MANY])
def test_a_key_is_drawn_as_it_is(unwieldy: Served, measure: str) -> None:
    """What stands between two signs of dollar is no formula in a picture, and a long name leaves room for the rest."""
    sql, key = f'SELECT kind, {measure} FROM "{DATASET}" GROUP BY kind', f"by-kind-{len(measure)}"
    who = visit(unwieldy, PEOPLE[0])
    assert who.post(f"/ask/{quote(DATASET)}", sql=sql, epsilon="0.25", key=key).status_code == 303
    for look in ("", "?narrow=true"):  # the warning that a name leaves no room is an error here
        light, _ = drawn(who, f"/answers/{key}/chart.svg{look}")
        texts = "".join(ElementTree.fromstring(light).itertext())
        assert all(one in texts for one in DOLLARS)
    drawn(who, f"/ask/{quote(DATASET)}/noise.svg?sql={quote(sql)}&epsilon=1")


@pytest.mark.slow
def test_every_analyst_is_named(unwieldy: Served) -> None:
    """Whoever has a line in the picture of balances is named below it, also where the name begins with `_`."""
    sql = f'SELECT COUNT(*) FROM "{DATASET}"'
    for name in PEOPLE[1:]:
        found = visit(unwieldy, name).post(f"/ask/{quote(DATASET)}", sql=sql, epsilon="0.25", key=f"one-{name}")
        assert found.status_code == 303
    light, _ = drawn(visit(unwieldy, "carla"), f"/keep/{quote(DATASET)}/balances.svg")
    texts = [one.strip() for one in ElementTree.fromstring(light).itertext() if one.strip()]
    assert {HIDDEN, PEOPLE[2], ALL, CAP} <= set(texts)


@pytest.mark.slow
def test_a_kind_of_picture_is_chosen(everybody: dict[str, Visit]) -> None:
    """Bars and a line are two pictures, a table is none, and any other kind is refused."""
    ana, path = everybody["ana"], "/answers/by-clinic"
    bars, line = (drawn(ana, f"{path}/chart.svg?chart={kind}")[0] for kind in ("bars", "line"))
    assert bars == drawn(ana, f"{path}/chart.svg")[0] != line
    assert ana.get(f"{path}/chart.svg?chart=none").status_code == 404
    assert "chart.svg" not in ana.get(f"{path}?chart=none").text
    assert "chart.svg?chart=line" in ana.get(f"{path}?chart=line").text
    assert ana.get(f"{path}?chart=pie").status_code == 400
