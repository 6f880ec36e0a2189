"""Every page in a real browser: nothing for axe to find, no error, nothing from elsewhere, no wider than a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.helpers import page_words as words
from tests.helpers.browser import Looker, looking
from tests.helpers.every_page import BOX, BY, PAGES, lose, report
from tests.helpers.hostile_names import DATASET, NOTE, PERSON, build_hostile
from tests.helpers.served_hospital import Running, Served, build, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.thorough

REFUSALS = frozenset((200, 303, 400, 403, 404, 409))
LIMITED = '[people.uma]\nrole = "analyst"\ndatasets = ["visits"]\nmax_epsilon_per_question = 0.2'
SCHEMES = ("light", "dark")


@pytest.fixture(scope="package")
def filled(server: Running, clinic: Served) -> Running:
    """The server, after ana has asked, requested, proposed and shared."""
    with server.client(clinic.keys["ana"]) as ana:
        for key, sql in (("by-clinic", BY), ("boxes", BOX)):
            asked = {"sql": sql, "epsilon": "0.5"}
            found = ana.post("/v1/datasets/visits/answers", json=asked, headers={"Idempotency-Key": key})
            assert found.status_code == 200, found.text
    lose(clinic)
    with server.client(clinic.keys["ana"]) as ana, server.client(clinic.keys["carla"]) as carla:
        report(clinic, ana, carla)
    return server


def findings(who: Looker) -> Iterator[str]:
    """Yield what axe finds on the page that is open."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415  only where there is a browser

    found: Any = Axe().run(who.page)
    for one in found.response["violations"]:
        nodes = "; ".join(f"{node['target']} {node['failureSummary']}" for node in one["nodes"][:3])
        yield f"{who.page.url}: {one['id']}: {nodes}"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("person", PAGES)
def test_axe_finds_nothing(browser: Browser, filled: Running, clinic: Served, person: str | None, scheme: Any) -> None:
    """No page, in light or dark, has anything that axe objects to; and none has an error or loads from elsewhere."""
    found: list[str] = []
    with looking(browser, filled, width=1280 if scheme == "light" else 360, color_scheme=scheme) as who:
        who.expected = REFUSALS
        if person is not None:
            who.sign_in(clinic.keys[person])
        for path in PAGES[person]:
            who.go(path)
            who.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            found += findings(who)
            if who.is_too_wide:
                found.append(f"{path} is wider than the screen")
    assert found == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_on_a_contract_that_is_tried(
    browser: Browser, filled: Running, clinic: Served, scheme: Any
) -> None:
    """Nor has what comes of a contract that is tried: its faults, and its figures with their pictures."""
    found: list[str] = []
    with looking(browser, filled, width=1280 if scheme == "light" else 390, color_scheme=scheme) as who:
        who.sign_in(clinic.keys["carla"], "/keep/visits/contract")
        served = who.page.get_by_label(words.CONTRACT).input_value()
        tried = served.replace("max_rows_per_unit = 2", "max_rows_per_unit = 1").replace("[0, 110]", "[30, 60]")
        for text, said in ((tried, words.READS), (tried.replace("[30, 60]", "[?, ?]"), "1 fault")):
            who.fill(words.CONTRACT, text).click(words.CHECK).sees(said)
            who.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            found += findings(who)
            assert not who.is_too_wide
    assert found == []


def test_axe_is_at_work(browser: Browser, filled: Running) -> None:
    """What looks at the pages finds something on a page that is wrong."""
    with looking(browser, filled) as who:
        who.go("/sign-in").page.evaluate("document.querySelector('label').remove()")
        assert any("label" in one for one in findings(who))


@pytest.mark.parametrize("width", [800, 1600])
def test_no_page_is_wider_than_the_screen(browser: Browser, filled: Running, clinic: Served, width: int) -> None:
    """Between a phone and a large screen, too, nobody scrolls sideways."""
    with looking(browser, filled, width=width) as who:
        who.expected = REFUSALS
        who.go("/plan")
        wide = [who.page.url] if who.is_too_wide else []
        for person, paths in (
            ("ana", ("/ask/visits", "/answers/by-clinic")),
            ("carla", ("/keep/visits", "/keep/keys")),
        ):
            who.sign_in(clinic.keys[person])
            wide += [path for path in paths if who.go(path).is_too_wide]
    assert wide == []


def test_everything_is_reached_by_keyboard(browser: Browser, filled: Running, clinic: Served) -> None:
    """One signs in, asks and reads the answer by keys alone; what has the focus is marked."""
    with looking(browser, filled) as who:
        who.go("/ask/visits").page.keyboard.press("Tab")
        assert who.page.evaluate("document.activeElement.textContent") == words.SKIP
        who.page.keyboard.press("Enter")
        who.page.keyboard.press("Tab")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert who.page.evaluate("document.activeElement.id") == "key"
        assert who.page.evaluate(outline) != "none"
        who.page.keyboard.type(clinic.keys["ben"])
        who.page.keyboard.press("Enter")
        who.at("/ask/visits").page.locator("#sql").focus()
        who.page.keyboard.type("SELECT COUNT(*) FROM visits")
        who.sees(words.costs("0.5")).page.get_by_role("button", name=words.run("0.5")).focus()
        who.page.keyboard.press("Enter")
        who.at("/answers/").sees("interval")


def test_names_are_completed_and_a_slider_sets_epsilon(browser: Browser, filled: Running, clinic: Served) -> None:
    """The script completes a name that was begun, and its slider changes what a question costs."""
    with looking(browser, filled) as who:
        who.sign_in(clinic.keys["ben"], "/ask/visits").at("/ask/visits")
        who.page.locator("#sql").press_sequentially("SELECT AVG(ag")
        who.click("age")
        who.page.locator("#sql").press_sequentially(") FROM visits")
        assert who.page.locator("#sql").input_value() == "SELECT AVG(age) FROM visits"
        who.sees(words.costs("0.5"))
        who.page.locator("input[type=range]").press("End")
        assert who.page.locator("#epsilon").input_value() == "10"
        who.sees(words.costs("10")).sees(words.AFFORDABLE_NO_MORE)


def test_a_slider_ends_where_one_query_has_to(browser: Browser, tmp_path: Path) -> None:
    """Where a query may cost only so much, the slider goes no further, and what it ends at can be run."""
    served = build(tmp_path / "hospital", more=LIMITED)
    with running(served) as found, looking(browser, found) as who:
        who.sign_in(served.keys["uma"], "/ask/visits").at("/ask/visits")
        who.page.locator("#sql").press_sequentially("SELECT COUNT(*) FROM visits")
        who.sees(words.costs("0.2"))
        who.page.locator("input[type=range]").press("Home")
        assert float(who.page.locator("#epsilon").input_value()) < 0.001
        who.page.locator("input[type=range]").press("End")
        assert who.page.locator("#epsilon").input_value() == "0.2"
        who.sees(words.costs("0.2"))


def test_only_what_was_explained_is_asked(browser: Browser, filled: Running, clinic: Served) -> None:
    """A question that was changed since, or whose explanation did not come, is not asked, and nothing is paid."""
    first, second = "SELECT COUNT(*) FROM visits", "SELECT AVG(age) FROM visits"
    with looking(browser, filled) as who:
        who.sign_in(clinic.keys["ben"], f"/ask/visits?sql={quote(first)}&epsilon=0.25").at("/ask/visits")
        who.sees(words.costs("0.25"))
        who.page.evaluate(
            """(second) => {
                const sql = document.getElementById("sql");
                sql.value = second;
                sql.dispatchEvent(new Event("input"));
                document.querySelector("form.ask button").click();
            }""",
            second,
        )
        who.page.locator("#explanation dd", has_text="AVG(age)").first.wait_for()
        assert "/ask/visits" in who.page.url
        who.page.route("**/explanation?*", lambda route: route.abort())
        who.fill(words.EPSILON, "0.125").sees(words.PREVIEW_FAILED)
        assert who.page.locator("form.ask").count() == 0
        who.wrong = [one for one in who.wrong if "ERR_FAILED" not in one]


def test_the_focus_stays_while_an_explanation_changes(browser: Browser, filled: Running, clinic: Served) -> None:
    """Whoever has gone on to the button by keyboard stays there, what is open stays open, and one line is told."""
    sought = f"/ask/visits?sql={quote('SELECT COUNT(*) FROM visits')}&epsilon=0.25"
    with looking(browser, filled) as who:
        who.sign_in(clinic.keys["ben"], sought).sees(words.costs("0.25"))
        who.page.locator("#explanation details").first.evaluate("(one) => { one.open = true; }")
        who.page.locator("#epsilon").fill("0.125")
        who.page.locator("form.ask button").focus()
        who.sees(words.costs("0.125"))
        assert who.page.evaluate("document.activeElement.textContent") == words.run("0.125")
        assert who.page.locator("#explanation details").first.evaluate("(one) => one.open")
        assert str(who.page.locator("#told").text_content()).startswith(words.costs("0.125"))
        assert who.page.locator("input[type=range]").get_attribute("aria-valuetext") == "0.125"


def test_no_name_runs(browser: Browser, tmp_path: Any) -> None:
    """In a browser, too, no name, key, note or question runs: no dialog opens, and nothing is loaded by it."""
    hostile = build_hostile(tmp_path / "hostile")
    address = f"/ask/{quote(DATASET, safe='')}"
    with running(hostile) as server, looking(browser, server) as who:
        who.expected = REFUSALS
        who.sign_in(hostile.keys[PERSON], address).at("/ask/")
        who.page.locator("summary", has_text=words.REQUEST).click()
        who.fill(words.AMOUNT, "1").fill(words.REASON, NOTE).click(words.SEND).at("/answers")
        for path in ("/ask", f"{address}?sql={quote(NOTE)}&epsilon={quote(NOTE[:40])}", f"/sign-in?next={quote(NOTE)}"):
            who.go(path)
        who.go(address).fill(words.SQL, f'SELECT kind, COUNT(*) FROM "{DATASET}" GROUP BY kind')
        who.click(words.run("0.5")).at("/answers/").sees("<svg onload=alert(7)>")
        who.sign_in(hostile.keys["carla"], "/sign-in")
        for path in ("/keep", f"/keep/{quote(DATASET, safe='')}", "/keep/keys"):
            who.go(path)
        assert who.page.locator("img[src=x], main script, main svg[onload]").count() == 0
