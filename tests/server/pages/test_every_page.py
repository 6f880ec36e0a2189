"""Every page: its HTML is right, it is small, and it says what it may load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from inbounds import __version__
from tests.helpers import page_words as words
from tests.helpers.every_page import ALL, PAGES, fill, lose, report
from tests.helpers.markup import faults
from tests.helpers.page_visitor import Visit, page_routes, visit
from tests.helpers.served_hospital import Served

LARGEST = 300_000
"""Bytes, of a page and of all that it loads."""

PARTS = re.compile(r"/static/.*|.*\.(svg|csv|txt|json|html|ipynb|\{ending\})|.*/explanation")
"""Addresses that are no pages."""


@pytest.fixture(scope="module")
def everybody(hospital: Served) -> dict[str | None, Visit]:
    """Everybody's browser, after something has happened."""
    found = {person: visit(hospital, person) for person in PAGES}
    fill(found["ana"], found["carla"])
    lose(hospital)
    report(hospital, hospital.person("ana"), hospital.person("carla"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("person", "path"), ALL)
def test_the_html_of_a_page_is_right(everybody: dict[str | None, Visit], person: str | None, path: str) -> None:
    """Elements end where they begin, ids are there once, fields have labels, headings are in order."""
    assert faults(everybody[person].get(path).text) == []


@pytest.mark.slow
@pytest.mark.parametrize(("person", "path"), ALL)
def test_a_page_is_small_with_all_that_it_loads(
    everybody: dict[str | None, Visit], person: str | None, path: str
) -> None:
    """A page has less than 300 kB, pictures, style and script included; these are of its version, not an older one."""
    who = everybody[person]
    text = who.get(path).text
    loaded = {
        one.replace("&amp;", "&") for one in re.findall(r'(?:src|srcset|href)="(/[^"]*\.(?:svg|css|js)[^"]*)"', text)
    }
    assert {f"/static/{name}?v={__version__}" for name in ("style.css", "script.js", "icon.svg")} <= loaded
    parts = {one: who.get(one) for one in loaded}
    assert {one: part.status_code for one, part in parts.items() if part.status_code != 200} == {}
    assert len(text.encode()) + sum(len(part.content) for part in parts.values()) < LARGEST


@pytest.mark.parametrize(("person", "path"), ALL)
def test_a_page_cannot_be_framed_nor_load_from_elsewhere(
    everybody: dict[str | None, Visit], person: str | None, path: str
) -> None:
    """Every page, also a refusal, forbids frames, scripts and styles that stand in it, and any other host."""
    headers = everybody[person].get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'",
        "connect-src": "'self'", "form-action": "'self'", "frame-ancestors": "'none'", "base-uri": "'none'",
    }  # fmt: skip
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def matched(route: str, path: str) -> bool:
    """Return whether an address is one of a route's."""
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), path.partition("?")[0]) is not None


def test_every_page_is_in_the_list(hospital: Served) -> None:
    """A page that nobody looks at here does not exist; pictures, files and parts of pages are no pages."""
    shown = {route for method, route in page_routes(hospital.app) if method == "GET"}
    missing = [one for one in shown if not PARTS.fullmatch(one) and not any(matched(one, path) for _, path in ALL)]
    assert missing == []


def template(route: str) -> str:
    """Return which template shows an address, as the rule of `inbounds.server.pages` has it."""
    words = [part.replace("-", "_") for part in route.strip("/").split("/") if not part.startswith("{")]
    return "_".join(words if not route.endswith("}") else [*words, "one"]) or "home"


def test_every_page_has_the_template_of_its_address(hospital: Served) -> None:
    """Whoever knows an address finds its template by the rule that the package of pages states."""
    shown = {route for method, route in page_routes(hospital.app) if method == "GET" and not PARTS.fullmatch(route)}
    there = {one.name for one in (files("inbounds.server") / "templates").iterdir()}
    others = {"/sign-in/provider", "/sign-in/provider/back"}  # which show the page of signing in, or none
    assert {one for one in shown if f"{template(one)}.html" not in there} == others
    assert template("/ask/{name}/owned") == "ask_owned"


def broken() -> Iterator[tuple[str, str]]:
    """Yield pages that are wrong, with what is."""
    whole = '<!doctype html><html lang="en"><head><title>a</title></head><body><main><h1>a</h1>{}</main></body></html>'
    yield whole.format("<p>a"), "does not end|ends"
    yield whole.format("<p><div></div></p>"), "stands in"
    yield whole.format('<p id="a"></p><p id="a"></p>'), "2 times"
    yield whole.format('<input id="a">'), "no label"
    yield whole.format('<img src="/a">'), "no alt"
    yield whole.format("<h3>a</h3>"), "after <h1> comes <h3>"
    yield whole.format("<script>a</script>"), "a script stands in the page"
    yield whole.format('<p style="a">a</p>'), "<p> has style"
    yield whole.format('<a href="//a.example">a</a>'), "leads elsewhere"
    yield whole.format("<p>a & b</p>"), "bare sign"
    yield whole.format("<table><tr><td>a</td></tr></table>"), "stands in <table>"
    yield whole.replace(' lang="en"', ""), "no language"
    yield whole.replace("<title>a</title>", ""), "no title"


@pytest.mark.parametrize(("page", "said"), list(broken()))
def test_a_wrong_page_is_found_out(page: str, said: str) -> None:
    """The reader of these tests finds what is wrong with a page that is wrong in one way."""
    assert re.search(said, " ".join(faults(page)))


def test_the_page_that_is_open_is_marked(everybody: dict[str | None, Visit]) -> None:
    """The navigation says where one is."""
    for person, path, name in (
        ("rita", "/reports", "Reports"),
        (None, "/plan", "Plan"),
        ("carla", "/keep/keys", words.MANAGE),
    ):
        assert re.findall(r'aria-current="page">(\w+)<', everybody[person].get(path).text) == [name]
