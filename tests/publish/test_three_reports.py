"""Three reports, from the plan to every reader: each number is one number, wherever it is read, and paid once."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.main import main
from inbounds.exact.amount import fraction
from inbounds.publish import Report, destinations
from inbounds.publish import run as running
from inbounds.publish.destinations import read_report, verify, write
from inbounds.publish.destinations.page.figures import write_noise
from inbounds.query import Dataset
from tests.helpers.browser import launched
from tests.helpers.engine_places import absent
from tests.helpers.three_reports.readers import READERS, PageTables, by_json, by_office, by_postgres, published
from tests.helpers.three_reports.subjects import FILES, SUBJECTS, Subject
from tests.helpers.three_reports.tampering import TAMPERINGS

pytestmark = pytest.mark.slow

OFTEN = [
    pytest.param(subject, id=subject.name, marks=[] if subject is SUBJECTS[0] else pytest.mark.thorough)
    for subject in SUBJECTS
]
"""The clinic every time, the others only by `make thorough`."""

COST = {"clinic": Fraction(3, 2), "trade": Fraction(11, 2), "survey": Fraction(29998, 10000)}
"""What each report costs; shares of a total are rounded down."""


@dataclass(frozen=True)
class Publication:
    """A report that was published to files in a folder."""

    subject: Subject
    folder: Path
    contract: Path
    report: Report

    @property
    def names(self) -> list[str]:
        """The names of its tables."""
        return [table.name for table in self.report.tables]


def command(folder: Path, contract: Path, *words: str) -> int:
    """Publish the report of a folder by the command, and return its exit code."""
    start = ["publish", str(folder / "report.sql"), "--dataset", str(contract), "--analyst", "office"]
    return main([*start, *words])


def targets(folder: Path) -> list[str]:
    """Return the options for a target of each kind."""
    return [word for name in FILES for word in ("--to", f"{folder}/{name}")]


def build(subject: Subject, folder: Path) -> Path:
    """Make a dataset and its report, and return the path of the contract."""
    contract = subject.build(folder)
    (folder / "report.sql").write_text(subject.report, "utf-8")
    return contract


@pytest.fixture(scope="module", params=OFTEN)
def publication(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Publication:
    """A report that was published to files of every kind."""
    folder = tmp_path_factory.mktemp("three")
    contract = build(request.param, folder)
    assert command(folder, contract, "--yes", *targets(folder)) == 0
    return Publication(request.param, folder, contract, read_report(f"{folder}/report.json"))


def entries(contract: Path) -> list[Any]:
    """Return what the ledger has."""
    with Dataset.load(contract) as dataset:
        return list(dataset.ledger.statement().entries)


# Equal everywhere.


def test_every_reader_reads_the_same_numbers(publication: Publication) -> None:
    """Numbers, noise and ends of intervals are the same in every file, whichever program reads it."""
    was = published(publication.report)
    for reader, read in READERS.items():
        assert read(publication.folder, publication.names) == was, reader


def test_every_target_is_one_report(publication: Publication) -> None:
    """What the six files say of themselves is the same report, of which nothing was changed."""
    found = [verify(f"{publication.folder}/{name}") for name in FILES]
    assert [one.faults for one in found] == [()] * len(FILES)
    assert {one.digest for one in found} == {publication.report.digest}


def test_what_is_published_is_what_the_ledger_keeps(publication: Publication) -> None:
    """Each row of each table, with its noise and intervals, is one of the answer that the ledger keeps for it."""
    kept = {
        entry.request_id: json.loads(entry.text) for entry in entries(publication.contract) if entry.kind == "answer"
    }
    said = by_json(publication.folder, publication.names)
    for table in publication.report.tables:
        whole, told, answer = kept[table.answer.request_id], said[table.name], table.answer
        keys = len(whole["columns"]) - len(whole["noise"][0])
        places = {frozenset(row[:keys]) - {None}: at for at, row in enumerate(whole["rows"])}
        assert len(places) == len(whole["rows"])
        for at, row in enumerate(told["rows"]):
            place = places[frozenset(row[key] for key in answer.key_places)]
            if table.name == "shares":  # computed of the released numbers
                continue
            assert [row[measure] for measure in answer.measure_places] == whole["rows"][place][keys:]
            assert told["expected_noise"][at] == whole["noise"][place]
            assert told["intervals"][at] == whole["intervals"][place]


def test_numbers_agree_across_questions(publication: Publication) -> None:
    """Counted in whole steps, every total that two tables of a report have in common is the same."""
    for agreeing in publication.subject.agreeing:
        assert agreeing.differing(publication.report) == []
        name = next(iter(agreeing.keys))
        changed = tuple(
            replace(table, answer=replace(table.answer, rows=_one_more(table.answer.rows)))
            if table.name == name
            else table
            for table in publication.report.tables
        )
        assert agreeing.differing(replace(publication.report, tables=changed))  # what looks is at work


def _one_more(rows: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
    """Return rows of which the last number of the first is larger by one."""
    return ((*rows[0][:-1], rows[0][-1] + 1), *rows[1:])


def numbers_of(row: dict[str, Any], answer: Any) -> list[float]:
    """Return the numbers of a row that a page shows: each measure, and the ends of its interval."""
    made = [name for name in row if name.startswith(("low", "high"))]
    found = []
    for measure in (answer.columns[place] for place in answer.measure_places):
        ends = [name for name in made if answer.measures == 1 or name.partition("_")[2].startswith(measure)]
        found += [row[measure], *(row[name] for name in ends)]
    return [number for number in found if number is not None]


def assert_page_shows(report: Report, tables: dict[str, list[tuple[list[str], list[str]]]]) -> None:
    """Compare the numbers on a page with those that were released: with all digits, and noise as people read it."""
    for table in report.tables:
        columns, shown = published(report)[table.name], tables[table.title]
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        assert len(shown) == len(rows)
        for (numbers, cells), row, noise, learnt in zip(
            shown, rows, table.answer.noise, table.answer.learnt, strict=True
        ):
            if not all(learnt):
                continue
            assert [float(number) for number in numbers] == numbers_of(row, table.answer)
            assert all(spread is None or write_noise(spread) in cells for spread in noise)


def test_the_page_shows_the_same_numbers(publication: Publication) -> None:
    """A page shows each number and interval with all digits for programs, and the noise rounded for people."""
    page = (publication.folder / "report.html").read_text("utf-8")
    assert_page_shows(publication.report, PageTables(page).tables)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser that was asked for."""
    with launched() as found:
        yield found


ROWS = """Object.fromEntries([...document.querySelectorAll("table")].map(table => [
    table.caption.textContent,
    [...table.querySelectorAll("tbody tr")].map(row => [
        [...row.querySelectorAll("data")].map(one => one.value), [...row.cells].map(cell => cell.textContent)
    ])
]))"""
SAVED = 'Object.fromEntries([...document.querySelectorAll("a[download]")].map(one => [one.download, one.href]))'


@pytest.mark.thorough
def test_a_browser_shows_the_same_numbers(publication: Publication, browser: Any) -> None:
    """A browser shows the same numbers, and the link below a table saves the file that is in the folder."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"file://{publication.folder}/report.html")
        assert_page_shows(publication.report, page.evaluate(ROWS))
        assert page.title() == publication.report.title
        for name, link in page.evaluate(SAVED).items():
            saved = page.evaluate("link => atob(link.split(',')[1])", link).encode("latin-1")
            assert saved == (publication.folder / "tables" / name).read_bytes()


@pytest.mark.thorough
def test_libreoffice_shows_the_same_numbers(publication: Publication, tmp_path: Path) -> None:
    """LibreOffice reads each cell of a workbook, to the fifteen digits that it has."""
    office = os.environ.get("INBOUNDS_TEST_OFFICE")
    if not office:
        pytest.skip("no office asked for: set INBOUNDS_TEST_OFFICE to the path of LibreOffice's soffice")
    if not Path(office).exists():
        absent("INBOUNDS_TEST_OFFICE names no program")
    was = published(publication.report)
    for name, (head, *rows) in by_office(office, publication.folder, publication.names, tmp_path).items():
        assert head == list(was[name])
        for row, cells in zip(rows, zip(*was[name].values(), strict=True), strict=True):
            for text, cell in zip(row, cells, strict=True):
                if isinstance(cell, int | float) and not isinstance(cell, bool):
                    assert float(text) == pytest.approx(cell, rel=1e-14)
                else:
                    assert text == ("" if cell is None else str(cell).upper() if isinstance(cell, bool) else cell)


@pytest.mark.thorough
def test_postgres_has_the_same_numbers(publication: Publication, schema: str) -> None:
    """A schema of PostgreSQL has every number, and a changed one is recognised."""
    import psycopg  # noqa: PLC0415  only where there is a PostgreSQL

    assert command(publication.folder, publication.contract, "--to", schema) == 0
    assert by_postgres(schema, publication.names) == published(publication.report)
    assert (verify(schema).faults, verify(schema).digest) == ((), publication.report.digest)
    url, _, name = schema.rpartition("schema=")
    table, column = place_to_change(publication.report)
    with psycopg.connect(url.rstrip("?&")) as connection:
        connection.execute(f'UPDATE "{name.replace("%20", " ")}"."{table}" SET "{column}" = "{column}" + 1'.encode())
    assert main(["publish", "--verify", schema]) == 1


# Tampered with.


def place_to_change(report: Report) -> tuple[str, str]:
    """Return a table and a column with an end of an interval."""
    table = report.tables[1]
    return table.name, next(name for name in table.columns if name.startswith("low"))


@pytest.mark.parametrize("target", FILES)
def test_a_changed_number_is_recognised(
    publication: Publication, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says of a file with one other number that it was changed, and where."""
    folder = tmp_path / "copy"
    shutil.copytree(publication.folder, folder)
    assert main(["publish", "--verify", f"{folder}/{target}"]) == 0
    TAMPERINGS[target](folder, *place_to_change(publication.report))
    capsys.readouterr()
    assert main(["publish", "--verify", f"{folder}/{target}"]) == 1
    assert "was changed after it was published" in capsys.readouterr().out


# Interrupted.


class Interruptions:
    """Stops the command, as Ctrl-C does, just before its questions and targets, one further each time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        for owner, name, whole in ((running, "_ask", running._ask), (destinations, "write", write)):
            monkeypatch.setattr(owner, name, self._cut(whole))

    def _cut(self, whole: Callable[..., Any]) -> Callable[..., Any]:
        def cut(*given: Any) -> Any:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            return whole(*given)

        return cut


@pytest.mark.parametrize("subject", OFTEN)
def test_interrupted_between_any_two_steps_it_is_paid_once(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before each question and each target in turn, the same command goes on, and nothing is charged twice."""
    contract = build(subject, tmp_path)
    cut = Interruptions(monkeypatch)
    steps = subject.questions + len(FILES)
    kept: dict[str, str] = {}
    for step in range(steps):
        cut.left = step
        assert command(tmp_path, contract, "--yes", *targets(tmp_path)) == 130
        found = entries(contract)
        charged = Counter(entry.request_id for entry in found if entry.kind == "charge")
        answers = {entry.request_id: entry.text for entry in found if entry.kind == "answer"}
        assert set(charged.values()) <= {1}
        assert kept.items() <= answers.items()
        kept = answers
        is_there = [verify(f"{tmp_path}/{name}").holds for name in FILES if (tmp_path / name).exists()]
        assert is_there == [True] * max(step - subject.questions, 0)
    cut.left = steps
    assert command(tmp_path, contract, "--yes", *targets(tmp_path)) == 0
    assert len({verify(f"{tmp_path}/{name}").digest for name in FILES}) == 1
    found = entries(contract)
    assert sum(fraction(entry.amount) for entry in found if entry.kind == "charge") == COST[subject.name]
    assert {entry.request_id: entry.text for entry in found if entry.kind == "answer"} == kept
    assert (cut.left, sys.exc_info()) == (0, (None, None, None))
