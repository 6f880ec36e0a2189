"""Files of an answer: every link on its page gives one, whatever else is installed."""

from __future__ import annotations

import io
import re
import sys

import pyarrow.parquet
import pytest

from inbounds.query.answer.kept_answer import read_kept
from inbounds.results.answer_json import read_answer
from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import BY_CLINIC, Served


@pytest.fixture
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing is installed that `inbounds[serve]` does not bring."""
    gone = {"pyarrow", "pandas", "polars"}
    for name in gone | {one for one in sys.modules if one.partition(".")[0] in gone}:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("nothing_else")
def test_every_link_to_a_file_gives_one(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    """What the page of an answer offers for saving can be had, and no mistake of the server is logged."""
    ana = visit(served, "ana")
    assert served.person("ana").ask("mine", BY_CLINIC).status_code == 200
    links = set(re.findall(r'href="(/answers/mine/answer\.[a-z]+)"', ana.get("/answers/mine").text))
    assert links == {f"/answers/mine/answer.{ending}" for ending in ("csv", "json", "parquet")}
    for link in links:
        found = ana.get(link)
        assert found.status_code == 200
        assert found.headers["content-disposition"].startswith("attachment; ")
    assert "mistake" not in capfd.readouterr().err


def test_a_parquet_file_holds_the_answer(served: Served) -> None:
    """Other programs read from the file what was released, column by column, with the ends of intervals."""
    said = served.person("ana").ask("mine", BY_CLINIC).json()
    content = visit(served, "ana").get("/answers/mine/answer.parquet").content
    found = pyarrow.parquet.read_table(io.BytesIO(content)).to_pydict()
    assert found["clinic"] == ["north", "south"]
    with served.service.holdings.reading() as ledger:
        kept = ledger.request("ana/mine")
    assert kept is not None
    assert kept[1] is not None
    answer = read_answer(said)  # in which a mean of few rows may be marked as nothing learnt
    assert answer.rows == read_kept(kept[1].text, 0, "ana/mine").rows  # type: ignore[arg-type]
    expected = answer.by_column()
    assert len(expected) > len(said["columns"])
    assert found == expected | {"caveat": [answer.caveat] * len(answer.rows)}
