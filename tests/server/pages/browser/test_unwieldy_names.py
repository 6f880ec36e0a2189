"""Long names and long tables in a real browser: numbers and buttons stay in sight, and no table seems to end early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.helpers import page_words as words
from tests.helpers.browser import Looker, looking
from tests.helpers.served_hospital import Running, Served, running
from tests.helpers.unwieldy_names import COLUMN, DATASET, GROUPS, PERSON, build_unwieldy

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.thorough

WIDTHS = (360, 1280, 1600)
QUESTIONS = {
    "kinds": f'SELECT kind, COUNT(*) FROM "{DATASET}" GROUP BY kind',
    "many": f'SELECT "{COLUMN}", COUNT(*) FROM "{DATASET}" GROUP BY "{COLUMN}"',
}


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A hospital of unwieldy names."""
    return build_unwieldy(tmp_path_factory.mktemp("unwieldy"))


@pytest.fixture(scope="module")
def asked(browser: Browser, ward: Served) -> Iterator[Running]:
    """Its server, after somebody with a long name has asked; not started where there is no browser."""
    assert browser.is_connected()
    with running(ward) as server:
        with server.client(ward.keys[PERSON]) as client:
            for key, sql in QUESTIONS.items():
                sent = {"sql": sql, "epsilon": "0.25"}
                headers = {"Idempotency-Key": key}
                found = client.post(f"/v1/datasets/{quote(DATASET)}/answers", json=sent, headers=headers)
                assert found.status_code == 200, found.text
        yield server


def measured(who: Looker, script: str) -> Any:
    """Return what a script measures of each table on the page."""
    return who.page.evaluate(f"[...document.querySelectorAll('.scroll')].map(one => {script})")


@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_leave_numbers_in_sight(browser: Browser, asked: Running, ward: Served, width: int) -> None:
    """Nobody scrolls sideways to the count and the interval of a long key, nor to the balance of a long name."""
    with looking(browser, asked, width=width) as who:
        who.sign_in(ward.keys[PERSON]).go("/answers/kinds")
        assert not any(measured(who, "one.scrollWidth > one.clientWidth + 1"))
        who.sign_in(ward.keys["carla"]).go(f"/keep/{quote(DATASET)}")
        assert not measured(who, "one.scrollWidth > one.clientWidth + 1")[0]


@pytest.mark.parametrize("width", WIDTHS)
def test_pictures_of_a_tried_contract_fit(browser: Browser, asked: Running, ward: Served, width: int) -> None:
    """However long the names are, the pictures of limits and bounds stay within the page, letters within pictures."""
    inside = (
        "[...document.querySelectorAll('svg.bars')].filter(one => one.getClientRects().length).flatMap("
        "one => [...one.querySelectorAll('text')].map(text => [one.getBoundingClientRect(), "
        "text.getBoundingClientRect()])).every(([a, b]) => b.left >= a.left - 1 && b.right <= a.right + 1)"
    )
    with looking(browser, asked, width=width) as who:
        who.sign_in(ward.keys["carla"]).go(f"/keep/{quote(DATASET)}/contract")
        text = who.page.get_by_label(words.CONTRACT).input_value()
        text = re.sub(r"\[columns\.kind\]\nkeys = .*\n", "", text.replace(f"[0, {GROUPS - 1}]", "[20, 90]"))
        text = text.replace('unit = "row"', 'unit = "kind"\nmax_rows_per_unit = 3')
        who.fill(words.CONTRACT, text).click(words.CHECK).sees(words.READS)
        assert who.page.locator("svg.bars:visible").count() == 4
        assert who.page.evaluate(inside)
        assert not who.is_too_wide


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_is_shown_to_its_end(browser: Browser, asked: Running, ward: Served, width: int) -> None:
    """A table of many groups moves in its own frame, and how many rows it has is said; on paper no row is hidden."""
    with looking(browser, asked, width=width) as who:
        who.sign_in(ward.keys[PERSON]).go("/answers/many")
        assert who.page.locator("table.answer tbody tr").count() == GROUPS
        assert any(measured(who, "one.scrollHeight > one.clientHeight + 1"))
        assert who.sees(f"{GROUPS} rows.").page.locator(".scroll.long").count() == 1
        who.page.emulate_media(media="print")
        assert not any(measured(who, "one.scrollHeight > one.clientHeight + 1"))


@pytest.mark.parametrize("width", WIDTHS)
def test_facts_have_room_beside_long_names(browser: Browser, asked: Running, ward: Served, width: int) -> None:
    """A long name of a dataset leaves its digest wide enough to be read."""
    with looking(browser, asked, width=width) as who:
        who.sign_in(ward.keys["dora"]).go("/verify")
        widths = who.page.evaluate("[...document.querySelectorAll('dl.facts dd')].map(one => one.clientWidth)")
        assert min(widths) >= 300


def test_a_key_is_revoked_on_a_phone(browser: Browser, asked: Running, ward: Served) -> None:
    """What revokes a key, and asks whether that is meant, is in sight without scrolling sideways."""
    with looking(browser, asked, width=360) as who:
        who.sign_in(ward.keys["carla"]).go("/keep/keys")
        who.page.evaluate("for (const one of document.querySelectorAll('td details')) one.open = true")
        boxes = [one.bounding_box() for one in who.page.locator("td summary, td button").all()]
        assert boxes
        assert all(one is not None and one["x"] + one["width"] <= 360 for one in boxes)


def test_paper_is_light(browser: Browser, asked: Running, ward: Served) -> None:
    """Whoever likes it dark prints in light colours all the same, with pictures for paper."""
    ground = "getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()"
    shown = "document.querySelector('img.chart').currentSrc.includes('dark=true')"
    with looking(browser, asked, color_scheme="dark") as who:
        who.sign_in(ward.keys[PERSON]).go("/answers/kinds")
        assert who.page.evaluate(ground) != "#ffffff"
        assert who.page.evaluate(shown)
        who.page.emulate_media(media="print", color_scheme="dark")
        who.page.reload()
        assert who.page.evaluate(ground) == "#ffffff"
        assert not who.page.evaluate(shown)


def test_fields_and_buttons_stand_in_line(browser: Browser, asked: Running, ward: Served) -> None:
    """The fields of a plan end at one height, as its button does; buttons stand as far apart as each other."""
    with looking(browser, asked) as who:
        who.go("/plan")
        place = "[...document.querySelectorAll('{}')].map(one => Math.round(one.getBoundingClientRect().{}))"
        assert len(set(who.page.evaluate(place.format(".plan label", "top")))) == 1
        assert len(set(who.page.evaluate(place.format(".plan input, .plan button", "bottom")))) == 1
        who.sign_in(ward.keys["dora"]).go("/verify/entries/2")
        first, second, third = (one.bounding_box() for one in who.page.locator("main .button").all())
        assert first is not None
        assert second is not None
        assert third is not None
        gaps = [second["x"] - first["x"] - first["width"], third["x"] - second["x"] - second["width"]]
        assert gaps[0] == pytest.approx(gaps[1], abs=0.5)
