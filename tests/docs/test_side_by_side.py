"""The page that asks the questions of other tutorials says what becomes of them.

In its tables, the third cell of a row is the question as it is asked here, the fourth what becomes of it.  Code that
begins with SELECT, or with a name that `names` has, is asked: what is said not to work is refused, everything else is
answered, also what a note proposes instead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from inbounds import Bounds, recommend
from inbounds.joint import release
from inbounds.query import Dataset, InvalidQuestion
from inbounds.query.query import Query
from tests.docs.test_docs import run_document, write_files
from tests.helpers.programs import ROOT

TEXT = (ROOT / "docs" / "side-by-side.md").read_text("utf-8")
PEERS = {"SmartNoise SQL": "pums", "Tumult Analytics": "members", "OpenDP": "lfs"}
BECOMES = ("same", "otherwise", "no")


def rows(peer: str) -> list[list[str]]:
    """Return the cells of the table of questions in a section."""
    section = TEXT.split(f"\n## {peer}\n")[1].split("\n## ")[0]
    table = section[section.index("| they ask |") :].split("\n\n")[0]
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in table.splitlines()[2:]]


def codes(cell: str) -> list[str]:
    """Return the questions in a cell."""
    begins = r"SELECT |(?:recommend|release)\(|(?:pums|posts|members|lfs)\."
    return [code for code in re.findall(r"`([^`]+)`", cell) if re.match(begins, code)]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that questions in Python may use: the tables of the page, made as the page makes them."""
    folder = tmp_path_factory.mktemp("side-by-side")
    assert write_files(TEXT, folder) == 6
    with pytest.MonkeyPatch.context() as patch, ExitStack() as opened:
        patch.chdir(folder)
        assert run_document(TEXT) == 3
        tables = {name: opened.enter_context(Dataset.load(Path(f"{name}.toml"))) for name in (*PEERS.values(), "posts")}
        yield tables | {"Bounds": Bounds, "recommend": recommend, "release": release}


def ask(names: dict[str, Any], peer: str, code: str) -> Any:
    """Ask a question of the page, in SQL or in Python."""
    asked = names[PEERS[peer]].sql(code) if code.startswith("SELECT ") else eval(code, dict(names))
    return asked.ask(1, analyst="ana") if isinstance(asked, Query) else asked


CASES = [pytest.param(peer, row, id=f"{peer}: {row[0]}") for peer in PEERS for row in rows(peer)]


@pytest.mark.slow
@pytest.mark.parametrize(("peer", "row"), CASES)
def test_every_question_becomes_what_is_said(names: dict[str, Any], peer: str, row: list[str]) -> None:
    """What is said to work is answered, what is said to be refused is refused, and proposals work."""
    _, _, here, becomes, note = row
    assert becomes in BECOMES
    assert codes(here) or becomes == "no" or "as above" in here
    for code in codes(here):
        if becomes == "no":
            with pytest.raises(InvalidQuestion):
                ask(names, peer, code)
        else:
            assert ask(names, peer, code) is not None
    for code in codes(note):
        assert ask(names, peer, code) is not None


def test_the_numbers_are_those_of_the_tables() -> None:
    """The table of numbers counts the rows of the others."""
    found = {peer: Counter(row[3] for row in rows(peer)) for peer in PEERS}
    for peer, counts in [*found.items(), ("all", sum(found.values(), Counter()))]:
        cells = " | ".join(str(number) for number in (counts.total(), *(counts[one] for one in BECOMES)))
        assert f"| {peer} | {cells} |" in TEXT
