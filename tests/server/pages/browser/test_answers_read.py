"""Answers where they are read, in a real browser: on a phone no interval is out of sight, on paper none is bare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from inbounds.results.cover import CAVEAT
from inbounds.server.pages.words import first_sentence
from tests.helpers import page_words as words
from tests.helpers.browser import looking
from tests.helpers.served_hospital import Running, Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.thorough

OLD, LATE = ("CASE WHEN age >= 50 THEN 'old' ELSE 'young' END", "CASE WHEN age >= 80 THEN 'late' ELSE 'soon' END")
QUESTIONS = {
    "one": "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    "groups": f"SELECT clinic, {OLD}, {LATE}, COUNT(*) FROM visits GROUP BY clinic, {OLD}, {LATE}",
    "two": "SELECT clinic, AVG(age), COUNT(*) FROM visits GROUP BY clinic",
    "four": "SELECT clinic, AVG(age), COUNT(*), SUM(age), COUNT(DISTINCT patient) FROM visits GROUP BY clinic",
    "quantiles": "SELECT clinic, QUANTILES(age, 0.1, 0.25, 0.5, 0.75, 0.9) FROM visits GROUP BY clinic",
}


@pytest.fixture(scope="module")
def read(server: Running, clinic: Served) -> Running:
    """The server, after ben has asked for one, two and four numbers a group, and for quantiles."""
    with server.client(clinic.keys["ben"]) as ben:
        for key, sql in QUESTIONS.items():
            sent = {"sql": sql, "epsilon": "0.1"}
            found = ben.post("/v1/datasets/visits/answers", json=sent, headers={"Idempotency-Key": f"read-{key}"})
            assert found.status_code == 200, found.text
    return server


@pytest.mark.parametrize("key", [key for key in QUESTIONS if key != "quantiles"])
def test_a_phone_shows_every_interval(browser: Browser, read: Running, clinic: Served, key: str) -> None:
    """At 360 pixels every number, its interval and what that is about are in sight, without moving the table."""
    with looking(browser, read, width=360) as who:
        who.sign_in(clinic.keys["ben"]).go(f"/answers/read-{key}")
        assert not who.is_too_wide
        cells = who.page.locator("table.answer td").all()
        boxes = [one.bounding_box() for one in cells]
        assert len(cells) > 2
        assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
        moved = "document.querySelector('.scroll').scrollWidth - document.querySelector('.scroll').clientWidth"
        assert who.page.evaluate(moved) <= 1
        assert who.page.get_by_text(CAVEAT).is_visible()


@pytest.mark.parametrize("key", ["one", "groups", "two", "quantiles"])
def test_a_screen_shows_every_interval(browser: Browser, read: Running, clinic: Served, key: str) -> None:
    """At 1,280 pixels, with a picture or without, every number and its interval are in sight."""
    with looking(browser, read, width=1280) as who:
        who.sign_in(clinic.keys["ben"]).go(f"/answers/read-{key}")
        table = "document.querySelector('.scroll')"
        assert who.page.evaluate(f"{table}.scrollWidth - {table}.clientWidth") <= 1


def test_paper_has_the_caveat(browser: Browser, read: Running, clinic: Served) -> None:
    """What is printed says what the interval is about, and what the contribution bound does."""
    with read.client(clinic.keys["ben"]) as ben:
        limit, _ = first_sentence(ben.get("/v1/answers/read-one").json()["row_limit"])
    with looking(browser, read) as who:
        who.sign_in(clinic.keys["ben"]).go("/answers/read-one")
        who.page.emulate_media(media="print")
        assert who.page.get_by_text(CAVEAT).is_visible()
        assert who.page.get_by_text("95 % interval (noise only)", exact=True).first.is_visible()
        assert who.page.get_by_text(limit).is_visible()
        assert not who.page.get_by_text(words.PROOF).is_visible()
