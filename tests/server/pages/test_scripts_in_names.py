"""Attacks by names: whatever can be named, noted, asked or typed is shown as a text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.helpers.every_page import LINK, PROPOSED, PUBLISHED, REJECTED
from tests.helpers.hostile_names import COLUMN, DATASET, DESCRIBED, KEYS, NOTE, PERSON, QUOTE, TAG, build_hostile
from tests.helpers.markup import faults
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.reporting import rename
from tests.helpers.served_hospital import Served

LIVE = re.compile(r"<img src=x|<script>alert|<svg onload|</textarea></p>|zyzyzy|href=\"javascript", re.IGNORECASE)
"""What would be there if one of the names were more than a text."""

ASK = f"/ask/{quote(DATASET, safe='')}"
KEEP = f"/keep/{quote(DATASET, safe='')}"
NAMED = '"' + COLUMN.replace('"', '""') + '"'
TABLE = f'"{DATASET}"'
BY_KIND = f"SELECT kind, COUNT(*) FROM {TABLE} GROUP BY kind"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The hospital of hostile names, after its analyst has asked, and the custodian has granted."""
    found = build_hostile(tmp_path_factory.mktemp("hostile"))
    mallory, carla = visit(found, PERSON), visit(found, "carla")
    assert mallory.post(ASK, sql=BY_KIND, epsilon="0.25", key="kinds").status_code == 303
    assert mallory.post(ASK, sql=f"SELECT AVG({NAMED}) FROM {TABLE}", epsilon="0.25", key="mean").status_code == 303
    for _ in range(3):
        assert mallory.post(f"{ASK}/requests", amount="1", reason=NOTE).status_code == 303
    assert carla.post("/keep/requests/1", decision="grant", note=NOTE).status_code == 303
    assert carla.post("/keep/requests/2", decision="decline", note=NOTE).status_code == 303
    assert carla.post(f"{KEEP}/grants", amount="1", note=NOTE, analyst=PERSON).status_code == 303
    mallory_key, custodian = found.person(PERSON), found.person("carla")
    assert mallory.post(f"{ASK}/saved", sql=BY_KIND, epsilon="0.25", name=QUOTE).status_code == 303
    said: dict[str, Any] = {"dataset": DATASET, "title": TAG, "description": NOTE}
    table = {"name": "kinds", "title": QUOTE, "description": TAG, "sql": BY_KIND, "epsilon": "0.1"}
    names = {}
    for name, called in (("year", PUBLISHED), ("next", PROPOSED), ("last", REJECTED)):
        made = mallory_key.post("/v1/reports", json={**said, "name": name, "questions": [table]})
        names[made.json()["id"]] = called
    first, _, last = names
    assert custodian.post(f"/v1/reports/{first}/approve").status_code == 200
    assert custodian.post(f"/v1/reports/{last}/reject", json={"note": NOTE}).status_code == 200
    shared = {"title": QUOTE, "description": NOTE, "people": ["rita", PERSON]}
    names[mallory_key.post("/v1/answers/kinds/shares", json=shared).json()["id"]] = LINK
    rename(found, names)
    yield found
    found.close()


PAGES = [
    *((PERSON, path) for path in (
        "/ask", ASK, "/answers", "/answers/kinds", "/answers/mean", f"{ASK}?sql={quote(BY_KIND)}",
        f"{ASK}?measure=mean&column={quote(COLUMN)}&where=kind&value={quote(KEYS[3])}&by=kind&compare={quote(TAG)}",
        f"{ASK}?measure={quote(QUOTE)}&column={quote(QUOTE)}&value={quote(QUOTE)}",
        f"{ASK}?sql={quote(NOTE)}&epsilon={quote(TAG)}", f"{ASK}/explanation?sql={quote(NOTE)}&epsilon={quote(TAG)}",
        f"{ASK}?sql={quote(f'SELECT AVG({TAG}) FROM {QUOTE}')}", f"{ASK}?epsilon={quote(QUOTE[:40])}",
        f"{ASK}?sql=SELECT+COUNT(*)+FROM+{quote(TABLE)}&epsilon={quote(QUOTE)}",
    )),
    *((PERSON, path) for path in (
        "/reports", f"/reports/{PROPOSED}", f"/reports/{REJECTED}", "/answers/kinds?chart=line",
    )),
    *(("rita", path) for path in (
        "/reports", f"/reports/{PUBLISHED}", f"/shared/{LINK}", f"/reports/{quote(TAG, safe='')}",
    )),
    *(("carla", path) for path in ("/reports", f"/reports/{PUBLISHED}", f"/reports/{PROPOSED}")),
    *(("carla", path) for path in ("/keep", KEEP, "/keep/keys", f"{KEEP}/check", f"/keep/{quote(QUOTE, safe='')}")),
    *(("carla", path) for path in (f"{KEEP}/contract", f"{KEEP}/contract?draft=true")),
    *(("dora", path) for path in (
        "/verify", f"/verify?head={quote(QUOTE)}", "/verify/entries",
        *(f"/verify/entries/{number}" for number in range(1, 12)),
    )),
    *((None, path) for path in (
        f"/plan?bounds={quote(QUOTE)}", f"/plan?bounds=[0,1]&sensitivity={quote(QUOTE)}",
        f"/plan?bounds=[0,1]&sensitivity=1&epsilon={quote(TAG)}", f"/sign-in?next={quote(QUOTE)}",
        f"/{quote(QUOTE, safe='')}", f"/answers/{quote(QUOTE, safe='')}", f"/ask/{quote(TAG, safe='')}",
    )),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("person", "path"), PAGES)
def test_a_name_is_a_text_on_every_page(hostile: Served, person: str | None, path: str) -> None:
    """No name, key, note, reason or question becomes an element, an attribute or a template, on any page."""
    found = visit(hostile, person).get(path, follow_redirects=True)
    assert found.headers["content-type"].startswith("text/html")
    assert LIVE.search(found.text) is None, found.text
    if not path.startswith(f"{ASK}/explanation"):
        assert faults(found.text) == []


@pytest.mark.parametrize(
    ("person", "path", "shown"),
    [
        (PERSON, "/ask", DATASET),
        (PERSON, "/ask", PERSON),
        (PERSON, "/ask", COLUMN),
        (PERSON, "/ask", KEYS[0]),
        (PERSON, "/answers", NOTE),
        (PERSON, "/answers/kinds", KEYS[3]),
        (PERSON, "/answers/mean", NAMED),
        (PERSON, ASK, QUOTE),
        (PERSON, "/reports", QUOTE),
        (PERSON, "/answers/kinds", QUOTE),
        (PERSON, f"/reports/{REJECTED}", QUOTE),
        (PERSON, ASK, DESCRIBED),
        ("rita", "/reports", TAG),
        ("rita", f"/reports/{PUBLISHED}", KEYS[3]),
        ("rita", f"/reports/{PUBLISHED}", DATASET),
        ("rita", f"/shared/{LINK}", NOTE),
        ("carla", "/keep", TAG),
        ("carla", "/keep", NOTE),
        ("carla", KEEP, NOTE),
        ("carla", KEEP, PERSON),
        ("carla", "/keep/keys", PERSON),
        ("dora", "/verify", DATASET),
    ],
)
def test_what_is_a_text_is_shown(hostile: Served, person: str, path: str, shown: str) -> None:
    """The names are on the pages that these attacks look at: escaped, and whole."""
    text = visit(hostile, person).get(path).text
    escaped = shown.translate({38: "&amp;", 60: "&lt;", 62: "&gt;", 34: "&#34;", 39: "&#39;"})
    assert escaped in text


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/sign-in", {"key": QUOTE, "next": QUOTE}),
        ("/sign-in", {"key": f"inb_{TAG}", "next": TAG}),
        (ASK, {"sql": NOTE, "epsilon": TAG}),
        (ASK, {"sql": f"SELECT AVG({TAG}) FROM {TABLE}", "epsilon": "0.1"}),
        (ASK, {"sql": BY_KIND, "epsilon": "0.1", "key": QUOTE}),
        (f"/ask/{quote(TAG, safe='')}", {"sql": BY_KIND, "epsilon": "0.1"}),
        (f"{ASK}/requests", {"amount": QUOTE, "reason": NOTE}),
    ],
)
def test_a_form_that_is_refused_shows_texts(hostile: Served, path: str, fields: dict[str, str]) -> None:
    """What a refusal repeats of a form is a text too."""
    found = visit(hostile, PERSON).post(path, **fields)
    assert 400 <= found.status_code < 500
    assert LIVE.search(found.text) is None, found.text
    assert faults(found.text) == []


PICTURES = [
    "/answers/kinds/chart.svg",
    "/answers/kinds/chart.svg?chart=line",
    f"/shared/{LINK}/chart.svg",
    f"/reports/{PUBLISHED}/kinds/chart.svg",
    f"{ASK}/noise.svg?sql={quote(BY_KIND)}&epsilon=1",
]


@pytest.mark.parametrize("path", PICTURES)
def test_a_picture_is_a_picture(hostile: Served, path: str) -> None:
    """Names in a picture are texts, and its own address runs nothing either."""
    found = visit(hostile, PERSON).get(path)
    assert found.status_code == 200
    assert found.headers["content-type"] == "image/svg+xml"
    assert found.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'"
    assert re.search(r"<img|<script|onload=\"|<svg onload|javascript:[^a]", found.text) is None


def test_the_picture_of_balances_is_a_picture(hostile: Served) -> None:
    """Analysts' names are texts in the picture of balances."""
    found = visit(hostile, "carla").get(f"{KEEP}/balances.svg")
    assert found.status_code == 200
    assert "<img" not in found.text


def test_a_file_is_a_file(hostile: Served) -> None:
    """An answer or a statement that is fetched is saved, never shown as a page."""
    mallory: Visit = visit(hostile, PERSON)
    for ending, kind in (("csv", "text/csv"), ("json", "application/json"), ("parquet", "application/vnd")):
        found = mallory.get(f"/answers/kinds/answer.{ending}")
        assert found.status_code == 200
        assert found.headers["content-type"].startswith(kind)
        assert found.headers["content-disposition"] == f'attachment; filename="kinds.{ending}"'
    for path in (
        f"/shared/{LINK}/answer.csv",
        f"/reports/{PUBLISHED}/report.json",
        f"/reports/{PUBLISHED}/kinds/table.csv",
    ):
        saved = visit(hostile, "rita").get(path) if "shared" in path else mallory.get(path)
        assert saved.headers["content-disposition"].startswith("attachment; filename=")
    statement = visit(hostile, "dora").get("/verify/statement.csv")
    assert statement.headers["content-disposition"].startswith("attachment")
