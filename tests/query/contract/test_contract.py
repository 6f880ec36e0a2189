"""A contract is read strictly, and every complaint names the file and the line to mend."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from inbounds.query.columns.column import Keys
from inbounds.query.contract.contract import Contract

GOOD = """\
[dataset]
name = "visits"
source = "visits.parquet"
unit = "person"
max_rows_per_unit = 3

[columns.age]
bounds = "[0, 120] step 1"

[columns.clinic]
keys = ["north", "south"]

[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
weekdays = "Mon-Fri"
closed = [["2026-08-03", "2026-08-14"], "2026-12-25"]

[budget]
total = 2.5
per_analyst = 1
"""


def load(folder: Path, text: str) -> Dataset:
    """Open a contract that is in a file."""
    path = folder / "visits.toml"
    path.write_text(text, encoding="utf-8")
    return Dataset.load(path, ledger=folder / "ledger.db")


def changed(old: str, new: str) -> Callable[[], str]:
    """Return the good contract with one part of it replaced."""
    assert GOOD.count(old) >= 1
    return lambda: GOOD.replace(old, new, 1)


WRONG = {
    "unknown table": ("[budget]", "[extra]\nx = 1\n[budget]", 18, "unknown key 'extra'"),
    "unknown key of dataset": ('unit = "person"', 'unit = "person"\nunits_ = 3', 5, "unknown key 'units_'"),
    "unknown key of a column": ('keys = ["north", "south"]', 'keys = ["a"]\nkey = 1', 12, "unknown key 'key'"),
    "unknown key of budget": ("per_analyst = 1", "per_analyst = 1\neach = 1", 21, "unknown key 'each'"),
    "missing unit": ('unit = "person"\n', "", 1, "unit is missing"),
    "missing name": ('name = "visits"\n', "", 1, "name is missing"),
    "missing limit": ("max_rows_per_unit = 3\n", "", 1, "max_rows_per_unit is missing"),
    "missing total": ("total = 2.5\n", "", 18, "total is missing"),
    "empty name": ('name = "visits"', 'name = " "', 2, "name must be a text"),
    "number as a name": ('name = "visits"', "name = 5", 2, "name must be a text"),
    "limit of rows": ('unit = "person"', 'unit = "row"', 5, "max_rows_per_unit must be 1"),
    "limit zero": ("max_rows_per_unit = 3", "max_rows_per_unit = 0", 5, "whole number from 1"),
    "limit a float": ("max_rows_per_unit = 3", "max_rows_per_unit = 3.0", 5, "whole number from 1"),
    "limit chosen by itself": ("max_rows_per_unit = 3", 'max_rows_per_unit = "auto"', 5, "`inbounds check` then shows"),
    "limit a truth value": ("max_rows_per_unit = 3", "max_rows_per_unit = true", 5, "whole number from 1"),
    "limit too high": ("max_rows_per_unit = 3", "max_rows_per_unit = 1048577", 5, "at most 1048576"),
    "units of zero": ("max_rows_per_unit = 3", "max_rows_per_unit = 3\nunits = 0", 6, "whole number from 1"),
    "bounds that do not parse": ('"[0, 120] step 1"', '"[0, 120"', 8, "bounds of 'age'"),
    "bounds upside down": ('"[0, 120] step 1"', '"[120, 0]"', 8, "bounds of 'age'"),
    "bounds a list": ('"[0, 120] step 1"', "[0, 120]", 8, "bounds must be a text"),
    "bounds without end": ('"[0, 120] step 1"', '"[0, inf) step 1"', 8, "must be finite"),
    "bounds without beginning": ('"[0, 120] step 1"', '"(-inf, 0]"', 8, "must be finite"),
    "bounds of one value": ('"[0, 120] step 1"', '"[7, 7] step 1"', 8, "at least two values"),
    "bounds too fine": ('"[0, 120] step 1"', '"[0, 120] step 0.000000001"', 8, "at most 2^"),
    "bounds too far": ('"[0, 120] step 1"', '"[2251799813685248, 2251799813685348] step 1"', 8, "within 2^50 steps"),
    "neither bounds nor keys": ('keys = ["north", "south"]\n', "", 10, "either bounds or keys"),
    "bounds and keys": ('"[0, 120] step 1"', '"[0, 120] step 1"\nkeys = ["1"]', 9, "keys beside bounds must be whole"),
    "keys out of bounds": ('"[0, 120] step 1"', '"[0, 120] step 1"\nkeys = [1, 121]', 9, "121 is not in [0, 120]"),
    "many keys and bounds": ('"[0, 120] step 1"', f'"[0, 120] step 1"\nkeys = {list(range(101))}', 9, "at most 100"),
    "keys and days": ('"[0, 120] step 1"', '"[2026-01-01, 2026-02-01]"\nkeys = [1]', 9, "keys beside bounds must be"),
    "keys_column alone": ('["north", "south"]', '["north"]\nkeys_column = "code"', 12, "keys is not the path of one"),
    "a category twice": ('["north", "south"]', '["north", "south", "north"]', 11, "'north' is there twice"),
    "empty keys": ('["north", "south"]', "[]", 11, "keys must be a list"),
    "keys a text": ('["north", "south"]', '"north"', 11, "list the keys in [ ], or give the path of a public csv"),
    "mixed keys": ('["north", "south"]', '["north", 1]', 11, "all texts, all whole numbers"),
    "keys 1 and true": ('["north", "south"]', "[1, true]", 11, "all texts, all whole numbers"),
    "keys of fractions": ('["north", "south"]', "[0.5, 1.5]", 11, "all texts, all whole numbers"),
    "keys of lists": ('["north", "south"]', '[["north"]]', 11, "all texts, all whole numbers"),
    "equal keys": ('["north", "south"]', '["north", "north"]', 11, "differ"),
    "too many keys": ('["north", "south"]', str(list(range(100_001))), 11, "keys must be a list of 1 to 100,000"),
    "key too big": ('["north", "south"]', "[9223372036854775808]", 11, "below 2^63"),
    "key with NUL": ('["north", "south"]', '["a\\u0000"]', 11, "NUL"),
    "column that is the unit": ("[columns.age]", "[columns.person]", 7, "'person' cannot be queried as a column"),
    "column that is no table": ("[columns.age]\nbounds =", "[columns]\nage =", 8, "must be a table"),
    "weekdays of numbers": ('"[0, 120] step 1"', '"[0, 120] step 1"\nweekdays = "Mon"', 7, "need bounds that are"),
    "weekdays unheard of": ('"Mon-Fri"', '"Mon-Fry"', 14, "bounds of 'day'"),
    "weekdays a number": ('"Mon-Fri"', "5", 14, "bounds of 'day'"),
    "closed unheard of": ('"2026-12-25"', '"2026-13-25"', 14, "bounds of 'day'"),
    "closed a number": ('[["2026-08-03", "2026-08-14"], "2026-12-25"]', "5", 16, "closed"),
    "closed of numbers": ('[["2026-08-03", "2026-08-14"], "2026-12-25"]', "[5, 6]", 14, "bounds of 'day'"),
    "closed all along": ('[["2026-08-03", "2026-08-14"], "2026-12-25"]', '[["2026-01-01", "2026-12-31"]]', 14, "day"),
    "total negative": ("total = 2.5", "total = -1", 19, "total"),
    "total zero": ("total = 2.5", "total = 0", 19, "total"),
    "total of 13 decimals": ("total = 2.5", "total = 0.0000000000001", 19, "total"),
    "total a word": ("total = 2.5", 'total = "much"', 19, "total"),
    "total a truth value": ("total = 2.5", "total = true", 19, "total"),
    "total without end": ("total = 2.5", "total = inf", 19, "total"),
    "total no number": ("total = 2.5", "total = nan", 19, "total"),
    "share negative": ("per_analyst = 1", "per_analyst = -1", 20, "per_analyst"),
    "not TOML": ('keys = ["north", "south"]', "keys = [north]", 11, "not TOML"),
    "a key twice": ("total = 2.5", "total = 2.5\ntotal = 3", 20, "not TOML"),
    "bounds beyond doubles": ('"[0, 120] step 1"', '"[0, 1e400]"', 8, "bounds"),
    "bounds as wide as doubles": ('"[0, 120] step 1"', '"[-1e308, 1e308]"', 8, "bounds"),
    "bounds below doubles": ('"[0, 120] step 1"', '"[0, 1e-400]"', 8, "bounds"),
    "bounds too fine for a lattice": ('"[0, 120] step 1"', '"[0, 1] step 1e-400"', 8, "step"),
    "bounds far and narrow": ('"[0, 120] step 1"', '"[1000000000000, 1000000000001]"', 8, "step"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_complaint_names_the_file_and_the_line(tmp_path: Path, case: str) -> None:
    """What is wrong in a contract is refused with the name of the file, the line, and what is wrong."""
    old, new, line, why = WRONG[case]
    with pytest.raises(InvalidContract) as refusal:
        load(tmp_path, changed(old, new)())
    message = str(refusal.value)
    assert message.startswith("visits.toml")
    assert f"line {line}" in message.replace("at line", "line")
    assert f"line {line}:" in message or "not TOML" in message
    assert why in message
    assert "; " in message  # and what to do


@pytest.mark.parametrize("table", ["dataset", "columns", "budget"])
def test_a_missing_table_is_told(tmp_path: Path, table: str) -> None:
    """A contract without one of its tables is refused, and the table named."""
    blocks = [block for block in GOOD.split("\n\n") if not block.startswith(f"[{table}")]
    with pytest.raises(InvalidContract, match=rf"visits.toml, line 1: \[{table}\] is missing"):
        load(tmp_path, "\n\n".join(blocks))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"a = {'[' * 20_000}{']' * 20_000}", "nested"),
        (f"a = {'{a = ' * 10_000}1{'}' * 10_000}", "nested"),
        (f"a = {'9' * 5000}", "thousands of digits"),
    ],
)
def test_what_only_a_machine_writes_is_refused_like_the_rest(text: str, why: str) -> None:
    """Nesting without end and numbers of thousands of digits are faults of a contract, not of the reader."""
    with pytest.raises(InvalidContract, match=rf"contract: .*{why}.*; write"):
        Contract.parse(text)


def test_a_header_is_found_in_one_pass() -> None:
    """A line that begins like a header and is none, such as a list of lists, is passed over without trying its parts.

    An expression that tries every way to share the blanks would take hours for this line.
    """
    contract = Contract.parse(f"[dataset]\nmap = [\n[{' ' * 50_000}1\n]]\nname = 'visits'")
    assert contract.line("dataset", "name") == 5


def test_a_table_has_one_description(tmp_path: Path) -> None:
    """[tables.other.dataset], which would take the place of what [tables.other] says, is refused as unknown."""
    other = (
        '[tables.other]\nsource = "other.parquet"\nunit = "person"\n[tables.other.dataset]\nsource = "third.parquet"\n'
    )
    with pytest.raises(InvalidContract, match=r"line 21: unknown key 'dataset' in \[tables.other\]; write"):
        load(tmp_path, GOOD.replace("[budget]", f"{other}[budget]"))


def test_what_is_fine_passes(tmp_path: Path) -> None:
    """A contract without a mistake is read as it is written."""
    dataset = load(tmp_path, GOOD)
    table = dataset.table
    assert (dataset.name, table.unit, table.limit, table.units) == ("visits", "person", 3, None)
    assert (dataset.total, dataset.per_analyst) == (25 * 10**11, 10**12)
    assert table.columns["clinic"] == Keys("clinic", ("north", "south"))
    age = table.numbers("age")
    assert [age.low, age.high, age.step] == [Fraction(0), Fraction(120), Fraction(1)]


FINE = {
    "rows as units": ('unit = "person"\nmax_rows_per_unit = 3', 'unit = "row"'),
    "rows as units, one each": ('unit = "person"\nmax_rows_per_unit = 3', 'unit = "row"\nmax_rows_per_unit = 1'),
    "inline tables": ("[columns.age]\nbounds =", "[columns]\nage.bounds ="),
    "numbers as keys": ('["north", "south"]', "[1, -9223372036854775807]"),
    "truth values as keys": ('["north", "south"]', "[true, false]"),
    "no step": ("[0, 120] step 1", "[0, 120]"),
    "spans": ("[0, 120] step 1", "[0, 17] | [65, 120] step 1"),
    "days of TOML": ('"2026-12-25"', "2026-12-25"),
    "a total as text": ("total = 2.5", 'total = "2.5"'),
    "no share": ("per_analyst = 1\n", ""),
    "a comment": ("[budget]", "[budget] # what may be spent"),
    "a quoted name": ("[columns.age]", '[columns."age of a person"]'),
}  # fmt: skip


@pytest.mark.parametrize("case", FINE)
def test_every_way_to_say_it_passes(tmp_path: Path, case: str) -> None:
    """What the contract's language allows is not refused."""
    assert load(tmp_path, changed(*FINE[case])()).table.columns


def test_weekdays_and_closed_days_are_not_possible(tmp_path: Path) -> None:
    """Bounds of days leave out other weekdays and closed days."""
    bounds = load(tmp_path, GOOD).table.numbers("day").bounds
    assert date(2026, 8, 17) in bounds
    assert date(2026, 8, 3) not in bounds
    assert date(2026, 12, 25) not in bounds
    assert date(2026, 8, 16) not in bounds  # a Sunday


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_endings_do_not_matter(tmp_path: Path, ending: str) -> None:
    """A line is counted the same whatever ends it, and whatever stands in comments above it."""
    text = "# a comment with \u2028 and \x85 in it\n" + GOOD.replace("total = 2.5", "total = -1")
    path = tmp_path / "visits.toml"
    path.write_bytes(text.replace("\n", ending).encode())
    with pytest.raises(InvalidContract, match="line 20:"):
        Dataset.load(path)


def test_a_text_that_looks_like_a_header_is_none() -> None:
    """Lines of a long text are not taken for keys of the contract."""
    text = (
        '[dataset]\nname = "a"\nsource = """\n[budget]\ntotal = 7\n"""\nunit = "row"\n[columns.a]\nkeys=["x"]\n'
        "[budget]\ntotal = -1\n"
    )
    with pytest.raises(InvalidContract, match="line 11:"):
        Dataset.parse(text)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b""])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None) -> None:
    """A contract that is not there, not text, or empty is refused, and its file named."""
    path = tmp_path / "visits.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidContract, match=r"visits\.toml"):
        Dataset.load(path)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('source = "visits.xlsx"', "line 3: source must be"),
        ('source = "nothing.parquet"', "no file at"),
        ('source = "spark"\ntable = "t"', "line 3: a source in Spark needs a session"),
        ('source = "some.duckdb"', "table is missing"),
    ],
)
def test_a_source_that_cannot_be_is_told(tmp_path: Path, line: str, why: str) -> None:
    """A source that no engine reads is refused when it is first needed."""
    dataset = load(tmp_path, changed('source = "visits.parquet"', line)())
    with pytest.raises(InvalidContract, match=why):
        dataset.count().plan(1)


def test_the_line_of_what_is_not_there_is_that_of_what_is_around_it() -> None:
    """A path that the text lacks has the line of the nearest table that is there."""
    contract = Contract.parse(GOOD)
    assert contract.line("columns", "age", "nothing") == 7
    assert contract.line("nothing") == 1
    assert contract.line("budget", "total") == 19


def test_keys_may_stand_in_a_public_file(tmp_path: Path) -> None:
    """The keys of a column are those that a csv file lists, under its name or in its only column, in their order."""
    text = GOOD.replace('["north", "south"]', '"clinics.csv"')
    for header in ("clinic", "name"):
        (tmp_path / "clinics.csv").write_text(f"{header}\nsouth\nnorth\n", encoding="utf-8")
        found = load(tmp_path, text).table.column("clinic")
        assert isinstance(found, Keys)
        assert found.keys == ("south", "north")
    wrong = {
        "clinic\n": "keys must be a list of 1 to",
        "a,b\n1,2\n": "must have a column 'clinic'",
        "clinic\nx\nx\n": "must differ",
        "clinic,b\nx\n": "as many fields in each line",
    }
    for content, told in wrong.items():
        (tmp_path / "clinics.csv").write_text(content, encoding="utf-8")
        with pytest.raises(InvalidContract, match=told):
            load(tmp_path, text)
