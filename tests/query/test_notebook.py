"""What a notebook shows of errors, queries, answers and datasets."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from inbounds.cli.clinic.clinic import CONTRACT as DEMO
from inbounds.cli.clinic.clinic import build as build_demo
from inbounds.display.text import WIDTH
from inbounds.errors import InboundsError, InvalidContract
from inbounds.query import Dataset
from inbounds.query.overview import example_questions
from tests.helpers.corpus import clinic
from tests.helpers.hospital import hospital
from tests.helpers.infirmary import contract as infirmary

LONG = "SELECT clinic, COUNT(*), AVG(age), AVG(cost), MEDIAN(cost) FROM visits WHERE age < 90 GROUP BY clinic"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The clinic, whose tables are nowhere."""
    with clinic.read_only(tmp_path_factory.mktemp("notebook")) as dataset:
        yield dataset


def shown(cell: str, visits: Dataset) -> list[str]:
    """Run a cell as a notebook does, and return what it shows of the error."""
    name = "<ipython-input-1>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    with pytest.raises(InboundsError) as refusal:
        exec(compile(cell, name, "exec"), {"visits": visits})
    frames = refusal.value.__traceback__
    assert frames is not None
    refusal.value.__traceback__ = frames.tb_next  # without this test, which a notebook has not
    return refusal.value._render_traceback_()


def test_an_error_in_a_notebook_is_three_lines(visits: Dataset) -> None:
    """A notebook shows what is wrong, what to do and the line of the cell, and nothing of the package."""
    assert shown("ages = 3\nvisits.mean('agee')\n", visits) == [
        "InvalidQuestion: the contract of visits has no column 'agee'",
        "  did you mean age?",
        "  line 2: visits.mean('agee')",
    ]
    assert shown("visits.count().explain(0)", visits)[2] == "  line 1: visits.count().explain(0)"


def test_an_error_in_sql_is_three_lines(visits: Dataset) -> None:
    """Of a query in SQL a notebook shows the message, the line of SQL and the mark."""
    assert shown("visits.sql('SELECT AVG(agee) FROM visits')", visits) == [
        "InvalidQuestion: the contract of visits has no column 'agee'; did you mean age?",
        "  SELECT AVG(agee) FROM visits",
        "             ^^^^",
    ]


def test_an_error_without_code_is_shown() -> None:
    """An error that nobody raised from a cell is shown without a line of it."""
    assert InvalidContract("it is wrong; correct it")._render_traceback_() == [
        "InvalidContract: it is wrong",
        "  correct it",
    ]


def test_the_repr_of_a_query_is_one_line(visits: Dataset) -> None:
    """However long a query is, its repr is one line that fits a terminal and begins with its SQL."""
    assert repr(visits.count()) == "<Query SELECT COUNT(*) FROM visits>"
    line = repr(visits.sql(LONG))
    assert line.startswith("<Query SELECT clinic, COUNT(*)")
    assert line.endswith("…>")
    assert len(line) <= WIDTH


class Folded(HTMLParser):
    """What is in a fold, and which tags there are."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Keep the tag."""
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        """Keep the text in the fold."""
        self.text += data if self.tags[-1:] == ["pre"] else ""


def test_a_query_folds_its_sql(visits: Dataset) -> None:
    """In a notebook a query is one line that opens to its whole SQL, in which nothing is read as HTML."""
    query = visits.count().where("age < 65")
    folded = Folded(query._repr_html_())
    assert folded.tags == ["details", "summary", "pre"]
    assert folded.text == str(query)
    assert "age &lt; 65" in query._repr_html_()


@pytest.mark.slow
def test_an_answer_folds_its_query(tmp_path: Path) -> None:
    """In a notebook an answer is its table, and below it the query that it answers, folded and escaped."""
    build_demo(tmp_path)
    with Dataset.load(tmp_path / "clinic.toml") as demo:
        query = demo.count().where("age < 65")
        answer = query.ask(1, analyst="ana", request_id="one")
        html = answer._repr_html_()
        assert answer.sql == str(query)
        assert html.index("</table>") < html.index("<details>")
        assert "WHERE age &lt; 65</pre>" in html
        assert answer.columns == ("count",)
        again = query.ask(1, analyst="ana", request_id="one")
        assert (again, again.sql) == (answer, str(query))


def test_columns_and_tables_are_readable(visits: Dataset) -> None:
    """Columns have their type in words, their values and what they are made of; tables whose privacy they protect."""
    rows = {(row["table"], row["column"]): row for row in visits.columns}
    assert rows["visits", "age"]["type"] == "whole numbers"
    assert rows["visits", "cost"]["type"] == "numbers"
    assert rows["visits", "admitted"]["type"] == "dates"
    assert rows["visits", "urgent"]["type"] == "true or false"
    assert rows["visits", "ward"]["type"] == "numbered categories"
    assert rows["visits", "sex"]["values"] == "f, m"
    assert rows["visits", "month"]["made of"] == "MONTH(admitted)"
    assert rows["clinics", "beds"]["values"] == "[0, 300] step 1"
    assert all(len(line) <= WIDTH for line in repr(visits.columns).split("\n"))
    assert "<table>" in visits.columns._repr_html_()
    assert len(visits.columns) == len(rows) == len(visits.columns.data())
    assert repr(visits.tables).split("\n")[2].split() == ["visits", "private", "patient", "3"]
    assert "<td" in visits.tables._repr_html_()
    of_units = visits.per_unit(n="COUNT(*)").columns
    assert [row["column"] for row in of_units if row["column"] == "n"] == ["n"]


WORDS = """
[dataset]
name = "order"
unit = "row"
[columns]
"group by".keys = ["it's", 'a "b"']
select.bounds = "[0, 1]"
day.bounds = "[2026-01-01, 2026-01-02]"
[budget]
total = 1
"""
ONLY_DAYS = """
[dataset]
name = "days"
unit = "who"
max_rows_per_unit = 1
[columns]
day.bounds = "[2026-01-01, 2026-12-31]"
[budget]
total = 1
"""


OPENED: dict[str, Callable[[Path], Dataset]] = {
    "clinic": clinic.read_only,
    "infirmary": infirmary.read_only,
    "hospital": hospital,
    "demo": lambda folder: Dataset.parse(DEMO, ledger=folder / "ledger.db"),
    "words": lambda folder: Dataset.parse(WORDS, ledger=folder / "ledger.db"),
    "days": lambda folder: Dataset.parse(ONLY_DAYS, ledger=folder / "ledger.db"),
}


@pytest.mark.parametrize("name", OPENED)
def test_examples_fit_the_contract(tmp_path: Path, name: str) -> None:
    """Every example that a contract gives rise to is accepted, and there are some for whatever its columns are."""
    with OPENED[name](tmp_path) as dataset:
        assert list(dataset.examples) == list(example_questions(dataset.tables))
        assert len(dataset.examples) >= 3
        assert repr(dataset.examples).split("\n") == list(dataset.examples)
        assert dataset.examples._repr_html_().startswith("<pre>SELECT COUNT(*)")
        for question in dataset.examples:
            dataset.sql(question)
