"""Reports and links, in a real browser: from the saved query to whoever reads, on phones, screens and paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from inbounds.results.cover import CAVEAT
from inbounds.server.basics.problem import KINDS
from tests.helpers import page_words as words
from tests.helpers.browser import looking
from tests.helpers.reporting import BY, TABLES, publish, share
from tests.helpers.served_hospital import Running, Served
from tests.server.pages.browser.conftest import Variant

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.thorough

SQL = BY.replace(" ", "+")
PHONE = 390


def width_of(variant: Variant) -> int:
    """Return the width of a usual phone in place of the narrowest."""
    return PHONE if variant.width < PHONE else variant.width


def test_a_report_goes_from_a_saved_query_to_its_readers(
    browser: Browser, server: Running, clinic: Served, variant: Variant
) -> None:
    """An analyst saves a query and proposes a report; the custodian sees its cost and approves; a reader reads it."""
    size: dict[str, Any] = {"width": width_of(variant), "script": variant.script}
    name, title = variant.analyst(1), f"A year at {variant}"
    with looking(browser, server, **size) as ana, looking(browser, server, **size) as carla:
        ana.sign_in(clinic.keys[name], f"/ask/visits?sql={SQL}&epsilon=0.25").at("/ask/visits")
        ana.page.get_by_text(words.SAVE_THIS).click()
        ana.fill(words.NAME, "Visits by clinic").click(words.SAVE).at("/ask/visits")
        ana.go("/reports").page.locator("summary").first.click()
        ana.fill(words.TITLE, title).fill(words.REPORT_NAME, "year")
        ana.page.get_by_role("checkbox").first.check()
        ana.click(words.PROPOSE).at("/reports/").sees(words.WAITING)
        assert not ana.is_too_wide
        carla.sign_in(clinic.keys["carla"], "/keep").sees(title)
        carla.click(words.approve("0.25", name)).at("/reports/").sees("Digest")
    with looking(browser, server, **size) as rita:
        rita.sign_in(clinic.keys["rita"]).at("/reports").click(title, "link").at("/reports/").sees("Visits by clinic")
        assert rita.page.get_by_text(CAVEAT).is_visible()
        assert not rita.is_too_wide


def test_a_link_is_given_and_taken_back(browser: Browser, server: Running, clinic: Served, variant: Variant) -> None:
    """An analyst shares an answer with a reader, who finds it; once the link is revoked, it leads nowhere."""
    size: dict[str, Any] = {"width": width_of(variant), "script": variant.script}
    key, title = f"link-{variant}", f"For rita at {variant}"
    with server.client(clinic.keys["ben"]) as ben:
        asked = {"sql": BY, "epsilon": "0.05"}
        assert ben.post("/v1/datasets/visits/answers", json=asked, headers={"Idempotency-Key": key}).status_code == 200
    with looking(browser, server, **size) as owner, looking(browser, server, **size) as rita:
        owner.sign_in(clinic.keys["ben"], f"/answers/{key}").at("/answers/")
        owner.page.get_by_text(words.NEW_LINK).click()
        owner.fill(words.TITLE, title).fill(words.READERS, "rita").click(words.SHARE).sees(title)
        rita.sign_in(clinic.keys["rita"]).at("/reports").click(title, "link").at("/shared/").sees("Shared by ben")
        owner.click(words.REVOKE).at("/answers/")
        rita.expected |= {404}
        rita.page.reload()
        rita.sees(KINDS["not-found"].title)


@pytest.fixture(scope="module")
def published(server: Running, clinic: Served) -> dict[str, str]:
    """The addresses of a report and of a shared answer."""
    assert server.process.poll() is None
    with server.client(clinic.keys["ben"]) as ben:
        asked = {"sql": BY, "epsilon": "0.05"}
        assert ben.post("/v1/datasets/visits/answers", json=asked, headers={"Idempotency-Key": "by"}).status_code == 200
        link = share(ben, "by", "rita")
    cheap = [{**TABLES[0], "epsilon": "0.05"}]
    return {"report": f"/reports/{publish(clinic, name='paper', questions=cheap)}", "link": f"/shared/{link}"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["report", "link"])
def test_a_phone_and_paper_show_every_interval(
    browser: Browser, server: Running, clinic: Served, published: dict[str, str], page: str, scheme: Any
) -> None:
    """On a phone every number, its interval and the caveat are in sight without moving; on paper, too."""
    with looking(browser, server, width=PHONE, color_scheme=scheme) as who:
        who.sign_in(clinic.keys["rita"]).go(published[page])
        cells = who.page.locator("table.answer").first.locator("td").all()
        boxes = [one.bounding_box() for one in cells]
        assert len(cells) > 2
        assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= PHONE for box in boxes)
        assert who.page.get_by_text(CAVEAT).first.is_visible()
        who.page.emulate_media(media="print")
        assert who.page.get_by_text(CAVEAT).first.is_visible()
        assert who.page.get_by_text("95 % interval (noise only)", exact=True).first.is_visible()
        assert not who.page.get_by_role("link", name="Download CSV").first.is_visible()


def test_a_long_answer_keeps_its_headings(browser: Browser, server: Running, clinic: Served) -> None:
    """A table of a hundred rows moves in its own frame, under its headings; on paper all of it stands there."""
    with server.client(clinic.keys["ben"]) as ben:
        asked = {"sql": "SELECT age, COUNT(*) FROM visits GROUP BY age", "epsilon": "0.05"}
        assert (
            ben.post("/v1/datasets/visits/answers", json=asked, headers={"Idempotency-Key": "ages"}).status_code == 200
        )
    with looking(browser, server, width=PHONE) as who:
        who.sign_in(clinic.keys["ben"]).go("/answers/ages").sees("111 rows.")
        who.page.locator(".scroll.long").evaluate("frame => { frame.scrollTop = frame.scrollHeight }")
        frame, head = (who.page.locator(one).first.bounding_box() for one in (".scroll.long", ".scroll.long thead th"))
        assert frame is not None
        assert head is not None
        assert abs(head["y"] - frame["y"]) <= 1
        assert who.page.locator(".scroll.long tbody tr").last.is_visible()
        who.page.emulate_media(media="print")
        frame_height = "frame => frame.scrollHeight - frame.clientHeight"
        assert who.page.locator(".scroll.long").evaluate(frame_height) <= 1
