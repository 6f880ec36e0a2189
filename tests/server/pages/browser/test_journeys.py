"""Journeys from sign-in to the end, in a real browser: narrow and wide, with script and without."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inbounds.server.basics.problem import KINDS
from tests.helpers import page_words as words
from tests.helpers.browser import Looker, looking
from tests.helpers.served_hospital import Running, Served
from tests.server.pages.browser.conftest import CROSSED, Variant

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.thorough

SQL = "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP(clinic)"


def explain(who: Looker, sql: str, epsilon: str, *, script: bool) -> None:
    """Write a question; without script, press the button that explains it."""
    who.fill(words.EPSILON, epsilon).fill(words.SQL, sql)
    if not script:
        who.click(words.PREVIEW)
    who.page.wait_for_url(re.compile(r"sql=SELECT"))


def test_a_newcomer_plans(browser: Browser, server: Running, variant: Variant) -> None:
    """Without signing in, one reads what this is, plans, and sees what is recommended; every state is a link."""
    with looking(browser, server, width=variant.width, script=variant.script) as who:
        who.go("/").sees(words.WELCOME).click(words.PLAN, "link").at("/plan").sees(words.RECOMMENDED)
        who.page.locator("summary", has_text=words.COMPARISON).click()
        who.fill(words.BOUNDS, "[0, 20] step 1").fill(words.CHANGE, "1").click("Plan")
        who.at("/plan?").sees(words.RECOMMENDED)
        with looking(browser, server, width=variant.width, script=variant.script) as friend:
            friend.go(who.page.url.removeprefix(who.url)).sees(words.RECOMMENDED)
            assert friend.page.get_by_label(words.BOUNDS).input_value() == "[0, 20] step 1"
        who.expected |= {400}
        who.fill(words.BOUNDS, "from here to there").click("Plan").sees("bounds")
        assert not who.is_too_wide


def test_an_analyst_asks_until_there_is_nothing_left_and_gets_more(
    browser: Browser, server: Running, clinic: Served, variant: Variant
) -> None:
    """An analyst asks by the form and by SQL, runs out, requests more; the custodian grants; the analyst asks again."""
    size = {"width": variant.width, "script": variant.script}
    name = variant.analyst(0)
    with looking(browser, server, **size) as ana, looking(browser, server, **size) as carla:  # type: ignore[arg-type]
        ana.sign_in(clinic.keys[name], "/ask").at("/ask").click("visits", "link").at("/ask/visits")
        ana.choose(words.MEASURE, "mean").choose(words.COLUMN, "age").choose(words.GROUP, "clinic")
        ana.click(words.WRITE_SQL).sees(words.costs("0.5")).sees(words.leaves("1.5")).click(words.run("0.5")).at(
            "/answers/"
        ).sees("north")

        ana.go("/ask/visits")
        explain(ana, SQL, "1", script=variant.script)
        ana.sees(words.costs("1")).click(words.run("1")).at("/answers/").page.locator("tr.total").wait_for()
        assert ana.page.locator("main img").first.get_attribute("src")

        ana.go("/ask/visits")
        explain(ana, SQL.replace("COUNT(*)", "SUM(age)"), "1", script=variant.script)
        ana.sees(words.AFFORDABLE_NO_MORE)
        assert ana.page.get_by_role("button", name=words.run("1")).is_disabled()
        ana.page.locator("summary", has_text=words.REQUEST).click()
        ana.fill(words.AMOUNT, "1").fill(words.REASON, f"a sum, for {name}").click(words.SEND)
        ana.at("/answers").sees(words.PENDING)

        carla.sign_in(clinic.keys["carla"], "/keep").at("/keep").sees(f"a sum, for {name}")
        form = carla.page.locator("form.card").filter(has_text=f"a sum, for {name}”")
        form.get_by_label(words.NOTE).fill("agreed")
        form.get_by_role("button", name=words.grant("1")).click()
        carla.at("/keep").click("visits", "link").at("/keep/visits").sees(f"to {name}, “agreed (request")

        ana.go("/answers").sees(words.granted("1")).go("/ask/visits")
        explain(ana, SQL.replace("COUNT(*)", "SUM(age)"), "1", script=variant.script)
        ana.sees(words.leaves("0.5")).click(words.run("1")).at("/answers/").page.locator("tr.total").wait_for()
        ana.go("/answers")
        assert ana.page.locator("tbody tr").count() == 3
        assert not ana.is_too_wide
        ana.click("Sign out").at("/").go("/answers").at("/sign-in")


@pytest.mark.parametrize("variant", CROSSED, ids=str)
def test_an_auditor_verifies(browser: Browser, server: Running, clinic: Served, variant: Variant) -> None:
    """An auditor sees that the ledger is intact, follows its entries, and compares a head that was saved."""
    with looking(browser, server, width=variant.width, script=variant.script) as dora:
        dora.sign_in(clinic.keys["dora"], "/verify").at("/verify").sees("Intact.")
        head = dora.page.locator("main pre").inner_text()
        dora.fill(words.SAVED, head).click(words.VERIFY).sees(words.CONTAINED)
        dora.click(words.OLDEST, "link").at("/verify/entries").click("1", "link").at("/verify/entries/")
        dora.go("/verify/entries/1").sees(words.FIRST).click("Entry 2", "link")
        dora.at("/verify/entries/2").sees(words.follows(1))
        altered = head[:-1] + ("0" if head[-1] != "0" else "1")
        dora.go("/verify").fill(words.SAVED, altered).click(words.VERIFY).sees("ALTERED.")
        assert not dora.is_too_wide


def test_a_custodian_tries_a_contract(
    browser: Browser, server: Running, clinic: Served, variant: Variant, tmp_path: Path
) -> None:
    """A custodian changes a limit, mistypes a bound, corrects it, looks and downloads; nothing is applied."""
    before = {path: path.read_bytes() for path in clinic.folder.glob("*.toml")}
    with looking(browser, server, width=variant.width, script=variant.script) as carla:
        carla.sign_in(clinic.keys["carla"], "/keep").at("/keep").click("visits", "link").at("/keep/visits")
        carla.click(words.TRY, "link").at("/keep/visits/contract")
        box = carla.page.get_by_label(words.CONTRACT)
        served = box.input_value()
        assert served == (clinic.folder / "visits.toml").read_text("utf-8")
        tried = served.replace("max_rows_per_unit = 2", "max_rows_per_unit = 1")
        carla.fill(words.CONTRACT, tried.replace("[0, 110]", "[110, 0]")).click(words.CHECK).sees("1 fault")
        assert "line 9" in carla.page.locator("ol.faults").inner_text()
        carla.fill(words.CONTRACT, tried).click(words.CHECK).sees(words.READS).sees(words.EYES_ONLY)
        assert not carla.is_too_wide
        shown = carla.page.locator("svg.bars:visible")
        assert shown.count() == 3
        assert "tried" in str(shown.first.text_content())
        size = shown.first.bounding_box()
        assert size is not None
        assert size["width"] > 250
        assert size["height"] > 60
        assert carla.page.locator("tr.total th").all_inner_texts() == ["1 (tried)", "2 (served)"]
        with carla.page.expect_download() as downloading:
            carla.page.get_by_role("button", name=words.DOWNLOAD).last.click()
        downloading.value.save_as(tmp_path / "file.toml")
        assert downloading.value.suggested_filename == "visits.toml"
        assert (tmp_path / "file.toml").read_text("utf-8") == tried
        carla.click(words.SERVED, "link")
        assert carla.page.get_by_label(words.CONTRACT).input_value() == served
        carla.click(words.DRAFT, "link").at("/keep/visits/contract?draft=true").sees("# decide")
        assert {path: path.read_bytes() for path in before} == before
        assert carla.go("/keep/visits").page.locator("ins").count() == 0  # of a version that is recorded


@pytest.mark.parametrize("variant", CROSSED, ids=str)
def test_a_revoked_key_ends_the_session(browser: Browser, server: Running, clinic: Served, variant: Variant) -> None:
    """The custodian issues a key, somebody works with it; once it is revoked, the next click asks for another."""
    size = {"width": variant.width, "script": variant.script}
    with looking(browser, server, **size) as ana, looking(browser, server, **size) as carla:  # type: ignore[arg-type]
        name = variant.analyst(1)
        carla.sign_in(clinic.keys["carla"], "/keep/keys").choose(words.PERSON, name).click(words.ISSUE)
        carla.sees(words.ISSUED)
        key = carla.page.locator(".good pre").inner_text()
        carla.go("/keep/keys")
        assert key not in carla.page.content()
        ana.sign_in(key, "/ask").sees("visits")
        prefix = key.split("_")[1]
        carla.page.locator("summary", has_text=prefix).click()
        carla.click(words.revoke(prefix)).at("/keep/keys")
        carla.page.get_by_role("row").filter(has_text=prefix).get_by_text("revoked").wait_for()
        ana.click("Answers", "link").at("/sign-in").sees("Sign in")
        ana.expected |= {401}
        ana.fill(words.KEY, key).page.locator("main").get_by_role("button", name="Sign in").click()
        ana.sees("expired or revoked")


@pytest.mark.parametrize("variant", CROSSED, ids=str)
def test_two_analysts_at_once(browser: Browser, server: Running, clinic: Served, variant: Variant) -> None:
    """Two who ask at the same time each pay and read their own; a link of the other's shows that there is nothing."""
    size = {"width": variant.width, "script": variant.script}
    with looking(browser, server, **size) as ana, looking(browser, server, **size) as ben:  # type: ignore[arg-type]
        for who, number in ((ana, 2), (ben, 3)):
            who.sign_in(clinic.keys[variant.analyst(number)], "/ask/visits").at("/ask/visits")
            explain(who, SQL, "0.5", script=variant.script)
            who.sees(words.costs("0.5"))
        for who in (ana, ben):
            who.page.get_by_role("button", name=words.run("0.5")).click(no_wait_after=True)
        links = [who.at("/answers/").page.url.removeprefix(who.url) for who in (ana, ben)]
        assert links[0] != links[1]
        for who, theirs in ((ana, links[1]), (ben, links[0])):
            who.go("/ask").sees(words.used("0.5", "2"))
            who.expected |= {404}
            who.go(theirs).sees(KINDS["not-found"].title)
