"""Pictures on pages: each is an image that can be read, in light and in dark, or it is not there."""

from __future__ import annotations

from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from tests.helpers.every_page import fill
from tests.helpers.served import Served
from tests.helpers.visiting import Visit, visit

QUESTIONS = {
    "one number": "SELECT COUNT(*) FROM visits",
    "groups": "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    "a mean": "SELECT AVG(age) FROM visits",
    "quantiles": "SELECT QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9) FROM visits",
    "several": "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic",
    "totals": "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP(clinic)",
}


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


@pytest.mark.parametrize("epsilon", ["0.01", "1", "1000"])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_noise_is_drawn_before_anything_is_asked(everybody: dict[str, Visit], asked: str, epsilon: str) -> None:
    """Every kind of question has its picture, however little or much it may cost, with colours for the dark."""
    light, dark = drawn(everybody["ana"], f"/ask/visits/noise.svg?sql={quote(QUESTIONS[asked])}&epsilon={epsilon}")
    assert light != dark


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


@pytest.mark.parametrize("dataset", ["visits", "births"])
def test_balances_are_drawn(everybody: dict[str, Visit], dataset: str) -> None:
    """Balances have a picture, also where nothing was asked yet."""
    drawn(everybody["carla"], f"/keep/{dataset}/balances.svg")


@pytest.mark.parametrize("bounds", ["[0, 100]", "[0, inf) step 1", "[0, 5] | [7, 20]", "(-inf, inf)", "[0, 3] step 1"])
def test_a_law_is_drawn_for_all_bounds(hospital: Served, bounds: str) -> None:
    """Whatever is possible, what is released is drawn, and the page that shows it says how far off it is."""
    asked = f"bounds={quote(bounds)}&sensitivity=1&epsilon=1"
    drawn(visit(hospital), f"/plan/law.svg?{asked}")
    assert "on average" in visit(hospital).get(f"/plan?{asked}").text
