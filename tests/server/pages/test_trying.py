"""A contract that is tried in a browser: its faults or true figures are shown, and nothing on the server changes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from inbounds.cli.main import main
from inbounds.errors import OVERTIME, EngineFailed, LedgerConflict
from inbounds.ledger import Ledger
from inbounds.query import Inspection
from inbounds.query.custodian.trial import open_trial
from inbounds.query.engines.duckdb import DuckDB
from inbounds.server.service.service import Service
from inbounds.server.state.custodian_file import CustodianFile
from tests.helpers.hostile_names import COLUMN, DATASET, KEYS, build_hostile
from tests.helpers.markup import faults
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.served_hospital import VISITS, Served, build
from tests.helpers.watched_places import watching

ADDRESS = "/keep/visits/contract"
CONTRACT = VISITS.format(total="50", per_analyst="20")
TRIED = CONTRACT.replace("max_rows_per_unit = 2", "max_rows_per_unit = 1").replace("[0, 110]", "[18, 90]")

LARGEST = 300_000


@pytest.fixture(scope="module")
def carla(hospital: Served) -> Visit:
    """The custodian's browser."""
    return visit(hospital, "carla")


def shown_text(page: str) -> str:
    """Return what stands in the box for the contract; browsers leave out a line break right after it begins."""
    box = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert box is not None
    return unescape(box[1])


def result_of(page: str) -> str:
    """Return what a page says of a text, without elements."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", page[page.index('<div id="result">') :])).split())


def everything(served: Served) -> dict[Path, bytes]:
    """Return every file of a server; how often somebody comes is counted beside them."""
    files = (path for path in served.folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.name.endswith((".rates", "-wal", "-shm", ".claims"))}


def test_the_page_begins_with_the_contract_that_is_served(hospital: Served, carla: Visit) -> None:
    """The text is the contract's to the letter, and what is sent back unchanged has no difference."""
    page = carla.get(ADDRESS).text
    assert shown_text(page) == CONTRACT == (hospital.folder / "visits.toml").read_text("utf-8")
    again = carla.post(ADDRESS, text=shown_text(page))
    assert "None: both promise the same" in again.text
    assert "Nothing: this is the contract that is served." in again.text


def test_a_fresh_draft_names_what_is_open(carla: Visit) -> None:
    """The draft has the table's columns and no value of theirs, and each open line is told when it is checked."""
    text = shown_text(carla.get(f"{ADDRESS}?draft=true").text)
    assert "[columns.town]" in text
    assert "Zorbleville" not in text
    told = result_of(carla.post(ADDRESS, text=text).text)
    assert told.startswith(f"{text.count('# decide')} faults")
    assert told.count("to decide") == text.count("# decide")


def test_figures_are_those_of_a_check(hospital: Served, carla: Visit) -> None:
    """What a tried limit and tried bounds do is told as a check of such a contract counts it."""
    found = carla.post(ADDRESS, text=TRIED)
    told = result_of(found.text)
    with open_trial(TRIED, hospital.service.holdings.open_holding("visits").dataset) as trial:
        inspection = Inspection.of(trial)
    assert inspection.units is not None
    assert inspection.units.limit.rows == 100
    assert "Rows left out 0 (0 %) 100 (50.0 %)" in told
    assert "Units with more rows 0 (0 %) 100 (100.0 %)" in told
    assert "2 (served) 1 (tried)" in told
    (age,) = inspection.numbers
    assert age.above == 0
    assert "No value is outside the bounds" in told
    assert f"row limit 1: {inspection.units.limit.rows} rows" in told


def test_what_changed_is_told_with_what_it_means(carla: Visit) -> None:
    """Each term that differs is shown before and after, with its meaning; a budget that no ledger takes is named."""
    page = carla.post(ADDRESS, text=TRIED).text
    assert "<del>2</del> <ins>1</ins>" in page
    assert "<del>[0, 110] step 1</del> <ins>[18, 90] step 1</ins>" in page
    assert "A higher bound means more noise" in page
    assert "does not start" not in page
    budget = carla.post(ADDRESS, text=CONTRACT.replace("total = 50", "total = 60")).text
    assert "<del>50</del> <ins>60</ins>" in budget
    assert "a server with it does not start" in budget
    same = carla.post(ADDRESS, text=CONTRACT.replace("total = 50", "total = 50.0")).text
    assert "None: both promise the same" in same


def test_all_faults_are_told_with_their_lines(carla: Visit) -> None:
    """Faults of every kind are told at once, each with its line; the text and the other fields stay as they were."""
    text = CONTRACT.replace("[0, 110] step 1", "[?, ?]").replace("ward-records.parquet", "/etc/passwd")
    text = text.replace("per_analyst = 20", "per_analyst = 70")
    found = carla.post(ADDRESS, text=text, epsilon="0.25")
    assert found.status_code == 200
    told = result_of(found.text)
    assert told.startswith("3 faults")
    assert re.findall(r"line (\d+), \[", told) == ["3", "9", "15"]
    assert 'bounds = "[?, ?]"' in told
    assert shown_text(found.text) == text
    assert 'value="0.25"' in found.text


def test_what_only_a_server_reads_of_a_contract_is_a_fault_too(carla: Visit) -> None:
    """A tick that a server would not start with is told like any other fault."""
    told = result_of(carla.post(ADDRESS, text=CONTRACT.replace("tick = 0.05", "tick = -1")).text)
    assert told.startswith("1 fault")
    assert "line 6" in told
    assert "tick must be above 0" in told


HOSTILE = {
    "a file": ("ward-records.parquet", "/etc/passwd"),
    "a file above": ("ward-records.parquet", "../cradle-records.parquet"),
    "another dataset's file": ("ward-records.parquet", "cradle-records.parquet"),
    "a database": ('"ward-records.parquet"', '"postgresql://a:hunter2@evil.example/c"\ntable = "t"'),
    "an address": ("ward-records.parquet", "https://evil.example/a.parquet"),
    "a file of keys": ('keys = ["north", "south"]', 'keys = "/etc/passwd"'),
    "a misspelt file of keys": ('keys = ["north", "south"]', 'kesy = "/etc/passwd"'),
    "a public table": ("[budget]", '[tables.a]\nsource = "/etc/passwd"\npublic = true\nkey = "root"\n[budget]'),
    "a ledger": ("[budget]", '[budget]\nledger = "other.db"'),
    "the name of another": ('"visits"', '"births"'),
    "nesting without end": ("[budget]", f"[x]\ny = {'[' * 9000}{']' * 9000}\n[budget]"),
    "a key of many parts": ("[budget]", f"[{'.'.join('a' * 2000)}]\n[budget]"),
    "a vast number": ("max_rows_per_unit = 2", f"max_rows_per_unit = {'9' * 5000}"),
    "a script": ("max_rows_per_unit = 2", 'max_rows_per_unit = "</textarea></p><script>alert(7)</script>"'),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_text_is_told_its_faults_and_nothing_else(hospital: Served, carla: Visit, case: str) -> None:
    """No text leads the server to another file or host, fails it, or becomes a part of the page."""
    old, new = HOSTILE[case]
    before = everything(hospital)
    with watching() as seen:
        found = carla.post(ADDRESS, text=CONTRACT.replace(old, new, 1))
    assert found.status_code == 200
    assert re.match(r"\d faults? ", result_of(found.text))
    assert not any(sign in event for event in seen for sign in ("passwd", "cradle", "evil", "other.db"))
    assert "root:" not in found.text
    assert "<script>alert" not in found.text
    assert faults(found.text) == []
    assert everything(hospital) == before


def test_a_text_that_is_too_long_is_refused(carla: Visit) -> None:
    """A form that is longer than the server takes is refused, and one that nearly is says so beforehand."""
    assert carla.post(ADDRESS, text="#" * 70_000).status_code == 413
    assert "limits.body_bytes" in carla.post(ADDRESS, text="a" * 60_000).text
    assert "limits.body_bytes" not in carla.get(ADDRESS).text


def test_nothing_on_the_server_changes(served: Served) -> None:
    """Drafting, checking and downloading leave every file as it was: contracts, ledger, and what the server keeps."""
    carla = visit(served, "carla")
    assert carla.post(ADDRESS, text=CONTRACT).status_code == 200  # by which everything is open
    before, head = everything(served), served.service.holdings.open_holding("visits").dataset.ledger.head()
    for text in (CONTRACT, TRIED, "nonsense"):
        assert carla.post(ADDRESS, text=text).status_code == 200
        assert carla.post(f"{ADDRESS}/file", text=text).status_code == 200
    assert carla.get(f"{ADDRESS}?draft=true").status_code == 200
    assert everything(served) == before
    assert served.service.holdings.open_holding("visits").dataset.ledger.head() == head
    assert shown_text(carla.get(ADDRESS).text) == CONTRACT
    assert served.person("ana").ask("after").status_code == 200
    assert served.person("ana").get("/v1/datasets/visits").json()["tables"][0]["max_rows_per_unit"] == 2


def test_true_figures_stay_on_the_page(carla: Visit, capfd: pytest.CaptureFixture[str]) -> None:
    """No figure and no text is in an address, in the log or in a cache; no picture is loaded from anywhere."""
    capfd.readouterr()
    found = carla.post(ADDRESS, text=TRIED)
    assert found.headers["cache-control"] == "no-store"
    assert found.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    loaded = re.findall(r'(?:src|srcset|href)="([^"]*)"', found.text)
    assert not any("svg" in address or "%" in address for address in loaded if not address.startswith("/static/"))
    assert found.text.count("<svg") > 4
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    (line,) = (line for line in lines if line["method"] == "POST")
    assert (line["route"], line["person"], line["status"]) == ("/keep/{name}/contract", "carla", 200)
    assert set(line) == {"time", "event", "method", "route", "status", "seconds", "person", "number"}


def test_the_page_of_a_result_is_right_and_small(carla: Visit) -> None:
    """A result is a page like the others: its HTML is right, and it is small with its pictures."""
    page = carla.post(ADDRESS, text=TRIED).text
    assert faults(page) == []
    assert len(page.encode()) < LARGEST / 2
    assert "custodian’s eyes only" in page


def test_a_text_comes_back_as_a_file(carla: Visit) -> None:
    """What was typed is downloaded to the letter, with the line breaks of files, called as the contract is."""
    found = carla.post(f"{ADDRESS}/file", text=TRIED.replace("\n", "\r\n") + "# ü")
    assert found.content.decode() == TRIED + "# ü"
    assert found.headers["content-disposition"] == 'attachment; filename="visits.toml"'
    assert found.headers["content-type"].startswith("application/toml")
    assert carla.post(f"{ADDRESS}/file", text="no contract at all").text == "no contract at all"


def test_lines_are_those_of_the_text_whatever_a_browser_makes_of_breaks(carla: Visit) -> None:
    """Browsers send two signs for each line break: the lines of faults are the same, and so are the terms."""
    assert "None: both promise the same" in carla.post(ADDRESS, text=CONTRACT.replace("\n", "\r\n")).text
    found = carla.post(ADDRESS, text=CONTRACT.replace("[0, 110]", "[9, 1]").replace("\n", "\r\n"))
    assert re.findall(r"line (\d+)", result_of(found.text)) == ["9"]


@pytest.mark.parametrize("epsilon", ["", "abc", "0", "-1", "nan", "1e400", "1_0"])
def test_an_epsilon_is_a_number(carla: Visit, epsilon: str) -> None:
    """What is no ε is refused in words about it, and the text stays."""
    found = carla.post(ADDRESS, text=TRIED, epsilon=epsilon)
    assert found.status_code == 400
    assert re.match(r"(The privacy cost|Epsilon) must", result_of(found.text))
    assert shown_text(found.text) == TRIED


def test_errors_are_those_at_the_epsilon_that_is_asked_for(carla: Visit) -> None:
    """At a tenth of ε the noise of a count is about ten times as large."""

    def noise(epsilon: str) -> float:
        told = re.search(
            r"left out \+ noise 0 \+ ([\d.]+)", result_of(carla.post(ADDRESS, text=TRIED, epsilon=epsilon).text)
        )
        assert told is not None
        return float(told[1])

    assert noise("0.1") == pytest.approx(10 * noise("1"), rel=0.2)


def test_another_unit_is_tried_without_the_limit_of_the_present_one(carla: Visit) -> None:
    """Where rows are counted for other units, the served limit is about something else, and is not compared."""
    found = carla.post(ADDRESS, text=CONTRACT.replace('unit = "patient"', 'unit = "town"'))
    told = result_of(found.text)
    assert "Earlier answers protect a different unit" in told
    assert "(served" not in told
    assert "2 (tried)" in told


def test_rows_that_are_units_have_no_limit_to_choose(carla: Visit) -> None:
    """Where each row is a unit of its own, the page says so, and checks the rest."""
    page = carla.get("/keep/births/contract").text
    told = result_of(carla.post("/keep/births/contract", text=shown_text(page)).text)
    assert "Each row is a unit of its own" in told
    assert "No value is outside the bounds" in told


def test_columns_that_do_not_fit_are_told(carla: Visit) -> None:
    """A column that the table has not, or of another type, is named, and there is no picture of limits till it fits."""
    found = carla.post(ADDRESS, text=CONTRACT.replace("[columns.age]", "[columns.height]"))
    assert "no such column" in result_of(found.text)
    assert "have to match the table first" in found.text
    assert re.search(r"<details open>\s*<summary>Full check", found.text)


def test_bounds_that_cut_are_drawn(carla: Visit) -> None:
    """Values below and above the bounds have a bar, with the share that is cut."""
    found = carla.post(ADDRESS, text=CONTRACT.replace("[0, 110]", "[30, 60]"))
    told = result_of(found.text)
    assert "Values outside the bounds of their column" in told
    assert "below, raised to the bound" in told
    assert 'class="above"' in found.text


def test_the_column_of_the_mean_is_chosen(carla: Visit) -> None:
    """Of several columns with a mean, the one that was chosen is looked at; a name that none has means the first."""
    text = CONTRACT.replace("[columns.clinic]", '[columns.older]\nfrom = "age + 1"\n[columns.clinic]')
    for mean, name in (("visits.older", "older"), ("visits.age", "age"), ("nonsense", "age")):
        found = carla.post(ADDRESS, text=text, mean=mean)
        assert f"Error of AVG({name})" in result_of(found.text)
        assert f'<option value="visits.{name}" selected>' in found.text


MORE = """
[tables.stays]
source = "ward-records.parquet"
unit = "patient"
max_rows_per_unit = 2
[tables.stays.columns.age]
bounds = "[0, 110] step 1"
[budget]"""


def test_of_several_tables_the_one_that_changed_is_drawn(served: Served) -> None:
    """With several private tables, limits are shown of the one whose limit is another, and of any that is chosen."""
    path = served.folder / "visits.toml"
    path.write_text(CONTRACT.replace("[budget]", MORE), encoding="utf-8")
    carla = visit(served, "carla")
    text = shown_text(carla.get(ADDRESS).text)
    before, _, after = text.partition("[tables.stays]")
    tried = f"{before}[tables.stays]{after.replace('max_rows_per_unit = 2', 'max_rows_per_unit = 1')}"
    found = carla.post(ADDRESS, text=tried)
    assert "Row limits of stays" in result_of(found.text)
    assert "table stays: max_rows_per_unit" in result_of(found.text)
    assert '<option value="stays.age" selected>' in found.text
    chosen = result_of(carla.post(ADDRESS, text=tried, mean="visits.age").text)
    assert "Row limits of visits" in chosen
    assert "2 (served, tried)" in chosen
    assert "table stays" in chosen
    draft = shown_text(carla.get(f"{ADDRESS}?draft=true").text)
    assert "[tables.stays.columns.town]" in draft


@pytest.fixture
def _slow(hospital: Served) -> Iterator[None]:
    """All places for statements of the custodian are taken."""
    claims = hospital.service.claims
    with claims.one_of("statement carla", 2), claims.one_of("statement carla", 2):
        yield


@pytest.mark.usefixtures("_slow")
def test_statements_of_one_person_are_limited(carla: Visit) -> None:
    """A check takes one of the custodian's places for statements; where there is none, the text stays."""
    found = carla.post(ADDRESS, text=TRIED)
    assert found.status_code == 429
    assert shown_text(found.text) == TRIED
    assert carla.get("/keep/visits/check").status_code == 429
    assert carla.get(ADDRESS).status_code == 200  # which runs none


def test_every_statement_has_its_time(hospital: Served, carla: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each engine that a trial or a check opens has the time limit of the server."""
    seen: list[float | None] = []
    inspect = Inspection.of

    def note(dataset: Any, **more: Any) -> Inspection:
        seen.extend(dataset.engine_of(name).statement_seconds for name in dataset.tables.private)
        return inspect(dataset, **more)

    monkeypatch.setattr(Inspection, "of", note)
    assert carla.post(ADDRESS, text=TRIED).status_code == 200
    assert carla.get("/keep/visits/check").status_code == 200
    assert seen == [hospital.file.limits.statement_seconds] * 2


@pytest.mark.parametrize(
    ("kind", "status", "words"), [(OVERTIME, 504, "time limit"), ("IOException", 503, "could not run")]
)
def test_a_statement_that_fails_leaves_the_text(
    carla: Visit, monkeypatch: pytest.MonkeyPatch, kind: str, status: int, words: str
) -> None:
    """What a database could not do is told without its words and without a charge, and the text stays."""

    def fail(*_: object) -> None:
        raise EngineFailed(kind)

    monkeypatch.setattr(DuckDB, "run", fail)
    found = carla.post(ADDRESS, text=TRIED)
    assert found.status_code == status
    assert words in result_of(found.text)
    assert "nothing was charged" in result_of(found.text)
    assert "charge stands" not in found.text
    assert shown_text(found.text) == TRIED


def test_a_source_that_is_away_is_told(served: Served) -> None:
    """Where the table cannot be read any more, a trial says so, and keeps the text."""
    carla = visit(served, "carla")
    assert carla.get(ADDRESS).status_code == 200
    (served.folder / "ward-records.parquet").unlink()
    found = carla.post(ADDRESS, text=TRIED)
    assert "no file at" in result_of(found.text)
    assert shown_text(found.text) == TRIED


def test_no_password_is_shown(served: Served) -> None:
    """A password in an address of the contract is in no page; the text without it is still that of the contract."""
    carla = visit(served, "carla")
    assert carla.get(ADDRESS).status_code == 200
    holding = served.service.holdings.open_holding("visits")
    contract = holding.dataset.contract
    secret = contract.text.replace("[budget]", '[budget]\nledger = "postgresql://inbounds:hunter2@db/clinic"')
    holding.dataset.contract = replace(type(contract).parse(secret), folder=contract.folder, name=contract.name)
    page = carla.get(ADDRESS).text
    assert "postgresql://inbounds@db/clinic" in page
    assert "A password" in page or "has a password" in page
    again = carla.post(ADDRESS, text=shown_text(page))
    assert "both promise the same" in again.text
    assert not any("hunter2" in text for text in (page, again.text, carla.get(f"{ADDRESS}?draft=true").text))


def test_whatever_is_named_is_a_text(tmp_path: Path) -> None:
    """Hostile names of datasets, columns and keys are texts in a result, in its pictures and in the file's name."""
    served = build_hostile(tmp_path / "hostile")
    try:
        carla, address = visit(served, "carla"), f"/keep/{quote(DATASET, safe='')}/contract"
        text = shown_text(carla.get(address).text)
        text = text.replace('unit = "row"', 'unit = "kind"\nmax_rows_per_unit = 3')
        text = re.sub(r"\[columns\.kind\]\nkeys = .*\n", "", text).replace("[0, 110]", "[20, 30]")
        found = carla.post(address, text=text)
        assert COLUMN in unescape(found.text)
        assert "AVG(" in found.text
        assert faults(found.text) == []
        assert re.search(r"<img src=x|<script>alert|<svg onload|zyzyzy", found.text) is None
        wrong = carla.post(address, text=text.replace("[20, 30]", KEYS[0]))
        assert re.search(r"<img src=x|<script>alert|<svg onload", wrong.text) is None
        assert carla.post(f"{address}/file", text=text).headers["content-disposition"].endswith('="births.toml"')
    finally:
        served.close()


def steps_of(page: str) -> list[list[str]]:
    """Return the commands that a page says to type next, word by word."""
    listed = page[page.index("What to do next") :]
    return [shlex.split(unescape(command)) for command in re.findall(r"<li>.*?<pre>(.*?)</pre>", listed, re.DOTALL)]


@pytest.mark.slow
@pytest.mark.parametrize("in_folder", [".", "contracts"])
def test_what_the_page_says_to_do_next_works_when_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_folder: str
) -> None:
    """The file in its place, checked, recorded and served anew is in force; till then, queries are refused for free."""
    served = build(tmp_path / "hospital")
    folder = (served.folder / in_folder).resolve()
    move_contract(served, folder)
    try:
        assert served.person("ana").ask("before").status_code == 200
        carla = visit(served, "carla")
        text = shown_text(carla.get(ADDRESS).text).replace("max_rows_per_unit = 2", "max_rows_per_unit = 1")
        page = carla.post(ADDRESS, text=text).text
        check, record = steps_of(page)
        file = carla.post(f"{ADDRESS}/file", text=shown_text(page))
        (folder / "visits.toml").write_bytes(file.content)
        monkeypatch.chdir(folder)
        assert check[:2] == ["inbounds", "check"]
        assert main([*check[1:], "--output", str(tmp_path / "check.txt")]) == 0  # a test has no terminal
        assert "row limit" in (tmp_path / "check.txt").read_text("utf-8")
        starting = Service.open(CustodianFile.load(served.path))  # a server that starts now
        with closing(starting), pytest.raises(LedgerConflict, match="other terms"):
            starting.holdings.open_holding("visits")
        assert record[:3] == ["inbounds", "budget", "contract"]
        assert main(record[1:]) == 0
        spent = spent_of(served)
        refused = served.person("ana").ask("between")
        assert refused.status_code == 409
        assert spent_of(served) == spent
    finally:
        served.close()
    again = replace(served, _opened=type(served._opened)())
    for name in ("file", "service", "app", "nobody"):
        again.__dict__.pop(name, None)
    try:
        assert again.person("ana").ask("after").status_code == 200
        assert again.person("ana").get("/v1/datasets/visits").json()["tables"][0]["max_rows_per_unit"] == 1
        assert "both promise the same" in visit(again, "carla").post(ADDRESS, text=file.text).text
    finally:
        again.close()


def move_contract(served: Served, folder: Path) -> None:
    """Put the contract of a hospital into another folder, before anybody serves it."""
    if folder == served.folder.resolve():
        return
    folder.mkdir()
    text = (served.folder / "visits.toml").read_text("utf-8")
    (folder / "visits.toml").write_text(text.replace('"ward-records', '"../ward-records'), encoding="utf-8")
    (served.folder / "visits.toml").unlink()
    file = served.path.read_text("utf-8").replace('"visits.toml"', '"contracts/visits.toml"')
    served.path.write_text(file, encoding="utf-8")


def spent_of(served: Served) -> object:
    """Return what the ledger says is spent."""
    with Ledger.open(served.folder / "budget.db", create=False) as ledger:
        return ledger.balance("visits", None).spent


def test_a_first_delta_is_recorded_by_a_command_of_its_own(carla: Visit) -> None:
    """Where the tried text adds a delta to a budget without one, the page names the command that records it."""
    page = carla.post(ADDRESS, text=CONTRACT + "delta = 1e-6\n").text
    assert [step[:3] for step in steps_of(page)] == [
        ["inbounds", "check", "visits.toml"],
        ["inbounds", "budget", "delta"],
    ]
    assert "does not start. Write the budget" not in page


def test_only_a_custodian_is_told_whether_a_dataset_is_there(hospital: Served) -> None:
    """Whoever may not try contracts is refused by the same words, whichever dataset and text it is about."""
    for person in ("ana", "dora", "rita"):
        who = visit(hospital, person)
        found = [who.post(f"/keep/{name}/contract", text=TRIED) for name in ("visits", "nothing")]
        assert [one.status_code for one in found] == [403, 403]
        assert found[0].text == found[1].text
