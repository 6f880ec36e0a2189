"""A text that is tried in place of a contract: it reads the same tables and nothing else, whatever it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidContract
from inbounds.ledger import Ledger
from inbounds.query import Dataset, Inspection
from inbounds.query.contract.contract import Contract
from inbounds.query.custodian.trial import DEEPEST, LONGEST, MOST_DOTS, line_of, open_trial
from inbounds.query.tables import source
from tests.helpers.watched_places import watching

CONTRACT = """\
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
max_rows_per_unit = 3
[columns.age]
bounds = "[0, 110] step 1"
[columns.finding]
keys = "findings.csv"
[columns.ward]
keys_of = "wards"
[tables.drugs]
source = "drugs.csv"
unit = "patient"
max_rows_per_unit = 2
[tables.drugs.columns.dose]
bounds = "[0, 99] step 1"
[tables.wards]
source = "wards.csv"
public = true
key = "ward"
[tables.wards.columns.beds]
bounds = "[0, 9] step 1"
[budget]
total = 5
"""

OUTSIDE = "outside"
"""In what is called so, nobody may look."""
SECRET = "Quillfeather"


@pytest.fixture
def present(tmp_path: Path) -> Iterator[Dataset]:
    """A dataset that is served, and files beside it that are nobody's business."""
    folder, other = tmp_path / "served", tmp_path / OUTSIDE
    for path in (folder, other):
        path.mkdir()
    with duckdb.connect() as connection:
        rows = "SELECT i // 4 AS patient, i % 90 AS age, 'rare' AS finding, 'w1' AS ward FROM range(400) r(i)"
        connection.execute(f"COPY ({rows}) TO '{folder / 'visits.parquet'}' (FORMAT parquet)")
        secrets = f"SELECT i AS patient, 5 AS age, '{SECRET}' || i AS finding FROM range(9) r(i)"
        connection.execute(f"COPY ({secrets}) TO '{other / 'visits.parquet'}' (FORMAT parquet)")
    for where, name, text in (
        (folder, "findings.csv", "finding\nrare\ncommon\n"),
        (folder, "wards.csv", "ward,beds\nw1,4\nw2,5\n"),
        (folder, "drugs.csv", "patient,dose\n1,5\n1,6\n2,7\n"),
        (other, "keys.csv", f"finding\n{SECRET}\n"),
        (other, "map.csv", f"ward,finding\n{SECRET},rare\n"),
        (other, "passwd", f"root:x:0:0:{SECRET}\n\n"),
    ):
        (where / name).write_text(text, encoding="utf-8")
    (folder / "visits.toml").write_text(CONTRACT, encoding="utf-8")
    Ledger.open(folder / "visits.ledger.db").close()
    with Dataset.load(folder / "visits.toml") as dataset:
        dataset.ledger.head()  # which opens it
        yield dataset


def put(old: str, new: str) -> Callable[[str], str]:
    """Return the contract with something else in one place; {outside} is the folder that nobody may look into."""
    assert old in CONTRACT
    return lambda outside: CONTRACT.replace(old, new.replace("{outside}", outside), 1)


def add(more: str) -> Callable[[str], str]:
    """Return the contract with something at its end."""
    return lambda outside: CONTRACT + more.replace("{outside}", outside)


KEYS = 'keys = "{outside}/keys.csv"'
TIMES = 'bounds = "[2026-01-01 00:00, 2026-12-31 00:00] step 1s"'
DRUGS = 'source = "drugs.csv"\nunit = "patient"\nmax_rows_per_unit = 2'

HOSTILE = {
    "another file": put('"visits.parquet"', '"{outside}/visits.parquet"'),
    "a file above": put('"visits.parquet"', '"../outside/visits.parquet"'),
    "a way that leads back": put('"visits.parquet"', '"../outside/../served/visits.parquet"'),
    "a pattern": put('"visits.parquet"', '"../outside/*.parquet"'),
    "an address": put('"visits.parquet"', '"https://evil.example/visits.parquet"'),
    "a bucket": put('"visits.parquet"', '"s3://evil/visits.parquet"'),
    "a database": put('source = "visits.parquet"', 'source = "postgresql://a:b@evil.example/c"\ntable = "t"'),
    "another database": put('source = "visits.parquet"', 'source = "clickhouse://evil.example/c"\ntable = "t"'),
    "the ledger": put('source = "visits.parquet"', 'source = "visits.ledger.db"\ntable = "entries"'),
    "a table in a file": put('"visits.parquet"', '"visits.parquet"\ntable = "outside"'),
    "a list for a source": put('"visits.parquet"', '["{outside}/visits.parquet"]'),
    "a table for a source": put('source = "visits.parquet"', 'source.source = "{outside}/visits.parquet"'),
    "a misspelt source": put('source = "visits.parquet"', 'sorce = "{outside}/visits.parquet"'),
    "keys in another file": put('"findings.csv"', '"{outside}/keys.csv"'),
    "keys in a file of the system": put('"findings.csv"', '"{outside}/passwd"'),
    "keys above": put('"findings.csv"', '"../outside/keys.csv"'),
    "misspelt keys": put('keys = "findings.csv"', 'kesy = "{outside}/keys.csv"'),
    "keys of another column": put('[columns.age]\nbounds = "[0, 110] step 1"', '[columns.age]\nkeys = "findings.csv"'),
    "a misspelt column key, then keys": put('keys = "findings.csv"', 'kyes = "{outside}/passwd"\nbonds = "x"'),
    "a map": put('keys = "findings.csv"', 'keys = ["rare"]\nwithin = "ward"\nmap = "{outside}/map.csv"'),
    "keys of another table": put("[tables.wards]", f'[tables.drugs.columns.x]\n{KEYS}\n[tables.wards]'),
    "a public table elsewhere": put('"wards.csv"', '"{outside}/keys.csv"'),
    "a private table elsewhere": put('"drugs.csv"', '"{outside}/keys.csv"'),
    "a private table made public": put(DRUGS, 'source = "drugs.csv"\npublic = true\nkey = "patient"'),
    "a new public table": add('[tables.more]\nsource = "{outside}/keys.csv"\npublic = true\nkey = "finding"\n'),
    "a new private table": add('[tables.more]\nsource = "{outside}/keys.csv"\nunit = "patient"\n'),
    "a description within a table": add('[tables.wards.dataset]\nsource = "{outside}/keys.csv"\npublic = true\n'),
    "a ledger": add('ledger = "{outside}/other.db"\n'),
    "a ledger far away": add('ledger = "postgresql://a:b@evil.example/c"\n'),
    "a misspelt ledger": add('legder = "{outside}/other.db"\n'),
    "another dataset": put('name = "visits"', 'name = "births"'),
    "a zone that is a path": add(f'[columns.at]\n{TIMES}\ntimezone = "../../{{outside}}/passwd"\n'),
    "an encoding that is a path": put('unit = "patient"', 'encoding = "../{outside}/passwd"\nunit = "patient"'),
    "SQL in a derived column": add("""[columns.more]\nfrom = "(SELECT 1 FROM '{outside}/passwd')"\n"""),
    "a function in a derived column": add("""[columns.more]\nfrom = "read_text('{outside}/passwd')"\n"""),
}  # fmt: skip

HARMLESS = {
    "SQL in a key": put('"findings.csv"', """["' UNION SELECT * FROM read_csv('{outside}/passwd') --"]"""),
    "SQL in the unit": put('unit = "patient"', """unit = "x\\" FROM read_csv('{outside}/passwd') --\""""),
    "a column that is not there": add("""[columns."x\\" FROM read_csv('{outside}/passwd') --"]\nkeys = ["a"]\n"""),
    "another unit": put('unit = "patient"\nmax_rows_per_unit = 3', 'unit = "finding2"\nmax_rows_per_unit = 3'),
}  # fmt: skip
"""Texts that name no place, and are tried: what looks like one is a name or a text."""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that are opened, also those that no call of Python's own goes to."""
    seen: list[str] = []
    path_of = source.path_of

    def note(contract: Contract) -> str:
        seen.append(path_of(contract))
        return seen[-1]

    monkeypatch.setattr(source, "path_of", note)
    return seen


def is_outside(text: str) -> bool:
    """Return whether something is not of the dataset that is served."""
    return any(sign in text for sign in (OUTSIDE, "evil", "other.db"))


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_text_is_refused_and_reaches_nothing(
    present: Dataset, tmp_path: Path, opened: list[str], case: str
) -> None:
    """A text that names another place is refused with its line; nobody goes there, and nothing of it is told."""
    text = HOSTILE[case](str(tmp_path / OUTSIDE))
    with watching() as seen, pytest.raises(InvalidContract) as refusal:
        open_trial(text, present)
    assert [event for event in seen if is_outside(event)] == []
    assert [place for place in opened if is_outside(place)] == []
    assert SECRET not in str(refusal.value)
    assert refusal.value.faults
    assert all(line_of(fault) is not None for fault in refusal.value.faults)


@pytest.mark.parametrize("case", HARMLESS)
def test_what_only_looks_like_a_place_is_a_text(present: Dataset, tmp_path: Path, opened: list[str], case: str) -> None:
    """Names and texts that hold SQL or paths are counted, or told not to fit; nobody goes where they seem to lead."""
    text = HARMLESS[case](str(tmp_path / OUTSIDE))
    with watching() as seen, open_trial(text, present) as trial:
        inspection = Inspection.of(trial)
    assert inspection.rows == 400
    assert [event for event in seen if is_outside(event)] == []
    assert [place for place in opened if is_outside(place)] == []


def test_the_watch_is_at_work(present: Dataset, tmp_path: Path, opened: list[str]) -> None:
    """A contract that is opened as it is, not as a trial, goes where it says, and that is seen."""
    text = HOSTILE["another file"](str(tmp_path / OUTSIDE)).replace('"findings.csv"', '["rare"]')
    (tmp_path / "served" / "hostile.toml").write_text(text, encoding="utf-8")
    with watching() as seen, Dataset.load(tmp_path / "served" / "hostile.toml") as dataset:
        assert Inspection.of(dataset).rows == 9
    assert any(is_outside(event) for event in seen)
    assert any(is_outside(place) for place in opened)
    assert present.name == dataset.name


def test_all_faults_are_told_together(present: Dataset) -> None:
    """Places that are others and everything else that is wrong are told at once, in the order of their lines."""
    text = (
        CONTRACT.replace("visits.parquet", "x.parquet").replace("[0, 110]", "[9, 1]").replace("total = 5", "total = 0")
    )
    text = text.replace("wards.csv", "x.csv")
    with pytest.raises(InvalidContract) as refusal:
        open_trial(text, present)
    lines = [line_of(fault) for fault in refusal.value.faults]
    assert lines == [3, 7, 19, 25]
    assert all("; " in fault for fault in refusal.value.faults)


def test_a_trial_of_the_contract_itself_is_the_contract(present: Dataset) -> None:
    """The same text has the same terms, and another limit has another one and nothing else."""
    with open_trial(CONTRACT, present) as same, open_trial(CONTRACT.replace("= 3", "= 2"), present) as other:
        assert same.terms == present.terms
        assert {name for name in other.terms if other.terms[name] != present.terms[name]} == {"max_rows_per_unit"}


def test_a_trial_leaves_the_ledger_and_the_files_alone(present: Dataset, tmp_path: Path) -> None:
    """Trying and inspecting writes no entry and no file, though the ledger of the dataset is open."""
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "-shm" not in path.name}
    head = present.ledger.head()
    with open_trial(CONTRACT.replace("= 3", "= 2"), present) as trial:
        assert Inspection.of(trial).rows == 400
        assert trial.terms != present.terms
    assert present.ledger.head() == head
    assert {path: path.read_bytes() for path in files} == files
    assert present.count().plan(1, pooling=1).sql  # and the dataset is open still


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("#" * (LONGEST + 1), "characters"),
        (".".join("a" * (MOST_DOTS + 2)) + " = 1", "dots"),
        ("[" + ".".join("a" * 100_000) + "]", "characters"),
        (f"a = {'[' * (DEEPEST + 1)}{']' * (DEEPEST + 1)}", "stand in each other"),
        (f"a = {'[' * 50_000}{']' * 50_000}", "nested"),
        (f"a = {'{a = ' * 20_000}1{'}' * 20_000}", "nested"),
        (f"a = {'9' * 5000}", "digits"),
        ("[dataset]\nmap = [\n[" + " " * 100_000 + "1\n]]", "unit is missing"),
        (CONTRACT + '[columns.x]\nfrom = "' + "age + " * 10_000 + 'age"', "parts"),
        (CONTRACT + '[columns.x]\nfrom = "' + "(" * 20_000 + "age" + ")" * 20_000 + '"', "nested too deeply"),
        (CONTRACT + '[columns.x]\nbounds = "[0, 1' + "0" * 50_000 + ']"', "bounds cannot be read"),
        (CONTRACT + '[columns.x]\nbounds = "[0, 1e999999999]"', "bounds cannot be read"),
        (CONTRACT.replace("visits.parquet", "://a:" * 30_000), "source must be"),
        (CONTRACT.replace("visits.parquet", "://a?" + "?pass" * 30_000), "source must be"),
        (CONTRACT + "".join(f'[columns.x{number}]\nkeys = "x"\n' for number in range(4000)), "keys may not name"),
        ("\0", "not TOML"),
        ("\ud800", "not TOML"),
        ("", "dataset"),
    ],
)  # fmt: skip
def test_a_text_that_only_a_machine_writes_is_refused(present: Dataset, text: str, why: str) -> None:
    """Very long, deep and large texts are faults with a reason, and never a mistake of ours."""
    with pytest.raises(InvalidContract, match=why) as refusal:
        open_trial(text, present)
    assert refusal.value.faults


def faults_of(text: str, present: Dataset) -> tuple[str, ...]:
    """Return what is wrong with a text, nothing if it is a contract."""
    try:
        open_trial(text, present).close()
    except InvalidContract as refusal:
        return refusal.faults or ("a refusal without faults",)
    return ()


@pytest.mark.slow
def test_any_text_is_a_contract_or_has_faults(present: Dataset) -> None:
    """Whatever line of a contract is cut, doubled or replaced, it reads or is refused; no other error is raised."""
    lines = CONTRACT.split("\n")
    odd = ["", "= 1", "x = nan", "source = 1", "[tables]", "[[tables]]", "columns = 1", "a.b.c = {}", lines[3]]
    texts = ["\n".join([*lines[:at], instead, *lines[at + 1 :]]) for at in range(len(lines)) for instead in odd]
    found = [faults_of(text, present) for text in texts]
    assert ("a refusal without faults",) not in found
    assert 0 < found.count(()) < len(found)
