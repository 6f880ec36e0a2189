"""Notebooks from the console: what the page shows, asked or fetched from this server, and nothing of the session."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from inbounds.code.notebook import write_notebook
from inbounds.code.place import OnServer
from inbounds.code.question_code import WrittenQuestion
from tests.helpers.hostile_names import DATASET, PERSON, build_hostile
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.reporting import BY
from tests.helpers.served_hospital import Served

KEY = re.compile(r'<input type="hidden" name="key" value="([0-9a-f]+)">')
LINK = re.compile(r'href="([^"]+\.ipynb[^"]*)"')


@pytest.fixture
def ana(served: Served) -> Visit:
    """An analyst's browser."""
    return visit(served, "ana")


def code_of(text: str) -> list[str]:
    """Return the code of a notebook, cell by cell."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def test_a_preview_gives_a_notebook_that_asks_as_the_form_does(served: Served, ana: Visit) -> None:
    """The notebook asks the query at its ε, under the name of the request that the form beside it has."""
    page = ana.get(f"/ask/visits?sql={quote(BY)}&epsilon=0.5").text
    (link,), (key,) = LINK.findall(page), KEY.findall(page)
    found = ana.get(html.unescape(link))
    assert found.status_code == 200
    assert found.headers["content-type"] == "application/x-ipynb+json"
    assert found.headers["content-disposition"] == 'attachment; filename="query.ipynb"'
    place = OnServer(served.file.url, "visits")
    assert found.text == write_notebook(WrittenQuestion(place, BY, "0.5", key), "0.5")
    assert ana.post("/ask/visits", sql=BY, epsilon="0.5", key=key).headers["location"] == f"/answers/{key}"


def test_a_form_gives_a_notebook_of_its_sql(ana: Visit) -> None:
    """A query that was put together in the form is in the notebook as SQL."""
    page = ana.get("/ask/visits?measure=mean&column=age&where=clinic&compare=is&value=north&by=clinic").text
    (link,) = LINK.findall(page)
    code = code_of(ana.get(html.unescape(link)).text)
    assert any("AVG(age)" in cell and "north" in cell for cell in code)


def test_a_wanted_error_is_asked_at_the_epsilon_that_was_found(ana: Visit) -> None:
    """What was shown to cost so much is asked at that ε."""
    page = ana.get(f"/ask/visits?sql={quote(BY)}&error=20").text
    (link,), (cost,) = LINK.findall(page), re.findall(r"Costs ε ([0-9.]+)<", page)
    found = ana.get(html.unescape(link)).text
    assert f"spends ε = {cost} of your budget" in found
    assert any(f"EPSILON = '{cost}'" in cell for cell in code_of(found))


def test_an_answer_gives_a_notebook_that_fetches_it(served: Served, ana: Visit) -> None:
    """The notebook of an answer asks nothing: it fetches the answer by the name of its request."""
    assert ana.post("/ask/visits", sql=BY, epsilon="0.5", key="mine").status_code == 303
    (link,) = LINK.findall(ana.get("/answers/mine").text)
    found = ana.get(link)
    assert found.headers["content-disposition"] == 'attachment; filename="mine.ipynb"'
    place = OnServer(served.file.url, "visits")
    assert found.text == write_notebook(WrittenQuestion(place, BY, "0.5", "mine", is_answered=True), "0")
    assert ".ask(" not in "".join(code_of(found.text))


def test_what_is_public_is_said_to_be_free(ana: Visit) -> None:
    """A query whose answer follows from the contract costs nothing, and its notebook says so."""
    (link,) = LINK.findall(ana.get("/ask/visits?sql=SELECT+DISTINCT+clinic+FROM+visits&epsilon=0.5").text)
    assert "The next cell is free" in ana.get(html.unescape(link)).text


def test_a_notebook_holds_nothing_of_the_session(served: Served, ana: Visit) -> None:
    """Neither the cookie, nor the token of forms, nor a key stands in a notebook."""
    assert ana.post("/ask/visits", sql=BY, epsilon="0.5", key="mine").status_code == 303
    for path in (f"/ask/visits/query.ipynb?sql={quote(BY)}&epsilon=0.5", "/answers/mine/answer.ipynb"):
        text = ana.get(path).text
        assert not any(secret in text for secret in (ana.cookie, ana.token, served.keys["ana"], "inb_"))


@pytest.mark.parametrize("key", ["a/b", "..", "a b", "a" * 81, "'"])
def test_a_request_has_a_name_that_it_can_have(ana: Visit, key: str) -> None:
    """What could not be asked under a name gives no notebook."""
    found = ana.get(f"/ask/visits/query.ipynb?sql={quote(BY)}&epsilon=0.5&key={quote(key, safe='')}")
    assert found.status_code == 400


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The hospital of hostile names."""
    found = build_hostile(tmp_path_factory.mktemp("hostile"))
    yield found
    found.close()


@pytest.mark.slow
def test_names_stay_names(hostile: Served) -> None:
    """A dataset whose name is code, and a query full of it, are constants of the notebook, and words in its title."""
    mallory, sql = visit(hostile, PERSON), f'SELECT kind, COUNT(*)\nFROM "{DATASET}"\nGROUP BY kind'
    assert mallory.post(f"/ask/{quote(DATASET)}", sql=sql, epsilon="0.25", key="kinds").status_code == 303
    for path in (f"/ask/{quote(DATASET)}/query.ipynb?sql={quote(sql)}&epsilon=0.25", "/answers/kinds/answer.ipynb"):
        text = mallory.get(path).text
        trees: list[Any] = [ast.parse(cell) for cell in code_of(text)]
        said = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        assert DATASET in said
        assert f"\n{sql}\n" in said
        words = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        assert not any(mark in one for one in words for mark in "<>")
