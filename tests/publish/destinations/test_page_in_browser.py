"""The page of a report in a real browser: nothing for axe to find, nothing loaded, no wider than a phone; on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from inbounds.publish.destinations import write
from tests.helpers.browser import launched
from tests.helpers.published_reports import PRACTICE, YEAR, of_many_rows

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.thorough

REPORTS = {"year": YEAR, "practice": PRACTICE, "many": of_many_rows(10_000)}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser that was asked for."""
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of each report."""
    folder = tmp_path_factory.mktemp("pages")
    for name, report in REPORTS.items():
        write(report, f"{folder}/{name}.html")
    return folder


def open_page(context: Any, pages: Path, name: str, wrong: list[str]) -> Page:
    """Open a page, and note whatever it asks for, says or stumbles over."""
    page: Page = context.new_page()
    address = f"file://{pages}/{name}.html"
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", lambda request: None if request.url == address else wrong.append(request.url))
    page.goto(address)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", REPORTS)
def test_everybody_can_read_it(browser: Browser, pages: Path, name: str, width: int, scheme: Any) -> None:
    """On a phone and on a screen, light and dark: axe finds nothing, nobody scrolls sideways, and nothing is loaded."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  only where there is a browser

    wrong: list[str] = []
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        page = open_page(context, pages, name, wrong)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found: Any = Axe().run(page)
        wrong += [f"{one['id']}: {one['nodes'][0]['target']}" for one in found.response["violations"]]
        assert not page.evaluate(TOO_WIDE)
        shown = page.evaluate("[...document.querySelectorAll('svg')].filter(one => one.checkVisibility()).length")
        assert shown == page.evaluate("document.querySelectorAll('svg').length") / 2
    assert wrong == []


def test_axe_is_at_work(browser: Browser, pages: Path) -> None:
    """What looks at the page finds something on one that is wrong."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    with browser.new_context() as context:
        page = open_page(context, pages, "year", [])
        page.evaluate("document.documentElement.removeAttribute('lang')")
        found: Any = Axe().run(page)
    assert any(one["id"] == "html-has-lang" for one in found.response["violations"])


def test_on_paper_nothing_is_folded_and_practice_is_marked(browser: Browser, pages: Path) -> None:
    """A printed page has every row that the page has, in dark ink; one of a practice report is marked across."""
    marks = {}
    for name in ("year", "practice"):
        with browser.new_context(color_scheme="dark") as context:
            page = open_page(context, pages, name, [])
            page.emulate_media(media="print")
            marks[name] = page.evaluate("getComputedStyle(document.body, '::before').content")
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
            assert page.locator("details pre").first.evaluate(
                "one => one.checkVisibility({contentVisibilityAuto: true})"
            )
            assert page.pdf(format="A4").startswith(b"%PDF")
    assert marks == {"year": "none", "practice": '"PRACTICE"'}


def test_a_table_can_be_saved(browser: Browser, pages: Path) -> None:
    """The link below a table saves it, whole, without asking anybody."""
    with browser.new_context(accept_downloads=True) as context:
        page = open_page(context, pages, "many", [])
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Save this table as csv (10,000 rows)").click()
        saved = waiting.value
        assert saved.suggested_filename == "codes.csv"
        assert Path(saved.path()).read_bytes().count(b"\n") == 10_001
