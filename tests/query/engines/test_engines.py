"""Whatever kind of file or frame a table is in, its totals are the same, and no row of it can make anything fail."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest

from inbounds.errors import EngineFailed, InvalidContract, InvalidQuestion
from inbounds.query import Dataset, Query
from tests.helpers import oracle
from tests.helpers.engine_places import (
    InDuckDB,
    InPostgres,
    InSpark,
    Place,
    distance,
    postgres_url,
    sail_session,
    totals_of,
)
from tests.helpers.programs import PATIENCE
from tests.helpers.sparing import sparing
from tests.query.statement.test_statement import CONTRACT, INTEGERS, QUESTIONS, TYPES, UNITS, random_rows

CSV_CONTRACT = """
[dataset]
name = "visits"
source = 'SOURCE'
unit = "row"
[columns]
age.bounds = "[0, 120] step 1"
cost.bounds = "[0, 10] step 0.5"
clinic.keys = ["north", "south", 'say "hi"']
ward.keys = [1, 2]
smoker.keys = [true, false]
day.bounds = "[2026-01-01, 2026-01-31]"
[budget]
total = 1
"""
HEADER = b"age,cost,clinic,ward,smoker,day\n"
LINES = [b"5,1.5,north,1,true,2026-01-05\n", b"6,2.5,south,2,false,2026-01-06\n", b"7,,,1,,\n"] * 2
CSV_QUESTIONS: list[Callable[[Dataset], Query]] = [
    lambda d: d.count(),
    lambda d: d.count().by("clinic", "ward"),
    lambda d: d.proportion("smoker = true"),
    lambda d: d.sum("age"),
    lambda d: d.mean("cost").where("NOT ward = 1"),
    lambda d: d.median("day"),
]


FEW = slice(1, None, 2)
"""The questions that are enough to see every column."""


def csv_totals(path: Path, content: bytes, asked: slice = slice(None)) -> list[list[list[int]]]:
    """Return the totals of a csv file with this content."""
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    with Dataset.parse(CSV_CONTRACT.replace("SOURCE", str(path))) as dataset:
        return [totals_of(ask(dataset)) for ask in CSV_QUESTIONS[asked]]


@cache
def plain_totals() -> list[list[list[int]]]:
    """Return the totals of a file with nothing but the lines."""
    with TemporaryDirectory() as folder:
        return csv_totals(Path(folder) / "visits.csv", HEADER + b"".join(LINES))


@cache
def allowed(rows: int) -> list[int]:
    """Return how far so many rows may move the totals of the few questions."""
    with Dataset.parse(CSV_CONTRACT) as dataset:
        return [rows * oracle.sensitivity(ask(dataset).question) for ask in CSV_QUESTIONS[FEW]]


HOSTILE_LINES: dict[str, bytes] = {
    "empty": b"\n",
    "too short": b"5\n",
    "too long": b"1,2,3,4,5,6,7,8,9\n",
    "nothing but delimiters": b"," * 100_000 + b"\n",
    "an open quote at the beginning": b'"5,1.5,north,1,true,2026-01-05\n',
    "an open quote": b'5,1.5,"north,1,true,2026-01-05\n',
    "an open quote at the end": b'5,1.5,north,1,true,"\n',
    "a quote within": b'5,1.5,no"rth,1,true,2026-01-05\n',
    "quotes around everything": b'"5","1.5","north","1","true","2026-01-05"\n',
    "quotes around a delimiter": b'5,1.5,"a,b",1,true,2026-01-05\n',
    "nothing but quotes": b'"""""""\n',
    "a backslash": b'5,1.5,"no\\"rth,1,true,2026-01-05\n',
    "wrong types": b"x,y,z,w,v,u\n",
    "vast numbers": b"9" * 400 + b",1e400,north,99999999999999999999,maybe,99999-01-01\n",
    "no numbers": b"nan,-inf,NORTH,1.0,TRUE,infinity\n",
    "a comment": b"#5,1.5,north,1,true,2026-01-05\n",
    "the header": HEADER,
    "a BOM": b"\xef\xbb\xbf5,1.5,north,1,true,2026-01-05\n",
    "not UTF-8": b"5,1.5,\xff\xfe\xc3,1,true,2026-01-05\n",
    "UTF-16": "5,1.5,north,1,true,2026-01-05".encode("utf-16") + b"\n",
    "NUL": b"5,1.5,\x00,1,true,2026-01-05\n",
    "controls": b"5,1.5,\x0b\x0c\x1a\x1b,1,true,2026-01-05\n",
    "other separators of lines": "5,1.5,\u2028\u0085,1,true,2026-01-05\n".encode(),
    "spaces": b" 5 , 1.5 , north , 1 , true , 2026-01-05 \n",
    "CRLF": b"5,1.5,north,1,true,2026-01-05\r\n",
    "three million characters": b"5,1.5," + b"n" * 3_000_000 + b",1,true,2026-01-05\n",
    "CR": b"5,1.5,nor\rth,1,true,2026-01-05\n",
    "CR and an open quote": b'5,1.5,"\r",1,true,2026-01-05\n',
}


@pytest.mark.slow
@pytest.mark.parametrize("case", sparing(HOSTILE_LINES, 12))
def test_a_line_changes_nothing_but_its_own_row(tmp_path: Path, case: str) -> None:
    """Wherever a line is put into a csv file, whatever it holds, totals move by at most what one row may."""
    line = HOSTILE_LINES[case]
    most = allowed(2 if b"\r" in line.rstrip(b"\r\n") else 1)
    before = plain_totals()[FEW]
    places = (0, 3) if len(line) < 10_000 else (3,)
    for place in places:
        content = HEADER + b"".join([*LINES[:place], line, *LINES[place:]])
        after = csv_totals(tmp_path / "visits.csv", content, FEW)
        moved = [distance(a, b) for a, b in zip(before, after, strict=True)]
        assert all(a <= b for a, b in zip(moved, most, strict=True)), (place, moved)


FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "CRLF": ("visits.csv", lambda content: content.replace(b"\n", b"\r\n")),
    "CR": ("visits.csv", lambda content: content.replace(b"\n", b"\r")),
    "BOM": ("visits.csv", lambda content: b"\xef\xbb\xbf" + content),
    "no newline at the end": ("visits.csv", lambda content: content[:-1]),
    "quoted": ("visits.csv", lambda content: content.replace(b"north", b'"north"').replace(b"6,2.5", b'"6","2.5"')),
    "tabs": ("visits.tsv", lambda content: content.replace(b",", b"\t")),
    "compressed": ("visits.csv.gz", lambda content: content),
    "compressed tabs": ("visits.tsv.gz", lambda content: content.replace(b",", b"\t")),
    "ending in capitals": ("visits.CSV", lambda content: content),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_a_csv_file_does_not_matter(tmp_path: Path, form: str) -> None:
    """The same lines in any form of csv have the same totals."""
    content, (name, change) = HEADER + b"".join(LINES), FORMS[form]
    assert csv_totals(tmp_path / name, change(content)) == plain_totals()


@pytest.mark.slow
def test_csv_is_what_it_says(tmp_path: Path) -> None:
    """Totals of a csv file are those of its lines, and what does not convert is missing."""
    more = [b'8,9,"say ""hi""",2,maybe,2026-02-05\n', b"130,-1,south,3,false,x\n"]
    found = csv_totals(tmp_path / "visits.csv", HEADER + b"".join(LINES[:3] + more))
    assert found[0] == [[5]]
    assert found[1] == [[1], [0], [0], [1], [0], [1]]
    assert found[2] == [[1, 4]]
    assert found[3] == [[5 + 6 + 7 + 8 + 120]]
    assert found[4] == [[5 + 18, 15 + 2]]
    assert [i for i, weight in enumerate(found[5][0]) if weight] == [4, 5, 30]


@pytest.mark.slow
def test_a_file_without_rows_has_totals(tmp_path: Path) -> None:
    """A header alone is a table without rows."""
    assert csv_totals(tmp_path / "visits.csv", HEADER)[0] == [[0]]
    assert csv_totals(tmp_path / "visits.csv", HEADER[:-1])[3] == [[0]]


@pytest.mark.parametrize("header", [b"\n", b"a,a\n", b"a,,b\n", b"\xff\n", b"A,a\n"])
def test_a_header_must_name_every_column(tmp_path: Path, header: bytes) -> None:
    """A file whose first line does not name every column once is refused, whatever follows."""
    with pytest.raises(InvalidContract, match=r"header"):
        csv_totals(tmp_path / "visits.csv", header + b"".join(LINES))


@pytest.mark.slow
def test_large_files_are_read_line_by_line(tmp_path: Path) -> None:
    """Also where several threads read a file, a hostile line changes nothing but its own row."""
    lines = b"".join(LINES) * 40_000
    before = csv_totals(tmp_path / "visits.csv", HEADER + lines, FEW)
    hostile = HOSTILE_LINES["an open quote"]
    for place in (len(lines) // 3, len(lines) // 2):
        cut = lines.index(b"\n", place) + 1
        after = csv_totals(tmp_path / "visits.csv", HEADER + lines[:cut] + hostile + lines[cut:], FEW)
        moved = [distance(a, b) for a, b in zip(before, after, strict=True)]
        assert all(a <= b for a, b in zip(moved, allowed(1), strict=True))


# Frames

SEEDS = [3, 5]


@pytest.fixture(params=["pandas", "polars", "arrow", "parquet", "duckdb"])
def as_frame(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[list[dict[str, Any]], str], Dataset]:
    """Makes a dataset of rows: a table is made in DuckDB, and handed over in this form."""
    module = {"arrow": "pyarrow"}.get(request.param, request.param)
    if request.param in ("pandas", "polars", "arrow"):
        pytest.importorskip(module)
        pytest.importorskip("pyarrow")

    def make(rows: list[dict[str, Any]], contract: str) -> Dataset:
        place = InDuckDB(tmp_path)
        with duckdb.connect() as connection:
            for statement in place.statements("made", rows, TYPES, ()):
                connection.execute(statement)
            relation = connection.table("made")
            if request.param == "pandas":
                frame: Any = relation.arrow().read_all().to_pandas(types_mapper=_pandas_type)
            elif request.param == "polars":
                frame = relation.pl()
            elif request.param == "arrow":
                frame = relation.arrow().read_all()
            elif request.param == "parquet":
                connection.execute(f"COPY made TO '{tmp_path / 'made.parquet'}' (FORMAT parquet)")
                text = contract.replace("[dataset]\n", f"[dataset]\nsource = '{tmp_path / 'made.parquet'}'\n")
                return Dataset.parse(text)
            else:
                return place.dataset(rows, TYPES, contract)
        return Dataset.parse(contract, frame=frame)

    return make


def _pandas_type(kind: Any) -> Any:
    import pandas  # noqa: PLC0415  an extra

    return pandas.ArrowDtype(kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing(SEEDS))
def test_frames_have_the_totals_of_files(as_frame: Callable[[list[dict[str, Any]], str], Dataset], seed: int) -> None:
    """The same table as a pandas, polars or Arrow frame, as a file or in DuckDB has the totals of plain Python."""
    rows = random_rows(seed)
    for unit in (UNITS[0], UNITS[2]):
        with as_frame(rows, CONTRACT.replace("UNIT", unit)) as dataset:
            for ask in QUESTIONS[seed::3]:
                query = ask(dataset)
                assert totals_of(query) == oracle.totals(query.question, rows, INTEGERS), str(query.question)


PLAIN = """
[dataset]
name = "visits"
unit = "row"
[columns]
age.bounds = "[0, 120] step 1"
cost.bounds = "[0, 10] step 0.5"
clinic.keys = ["north", "south"]
smoker.keys = [true, false]
moment.bounds = "BOUNDS"
[budget]
total = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("bounds", ["[2026-01-01, 2026-12-31]", "[1500-01-01, 2500-12-31]"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_plain_pandas_frames_are_read_as_they_are(unit: str, bounds: str) -> None:
    """A pandas frame of NumPy columns, with gaps as NaN and NaT, is a table as any other."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "age": [5.0, float("nan"), 200.0],
            "cost": [1, 2, 3],
            "clinic": pandas.Series(["north", None, "east"], dtype=object),
            "smoker": [True, False, True],
            "moment": pandas.Series(["2026-01-03", None, "2026-02-01"]).astype(f"datetime64[{unit}]"),
        }
    )
    with Dataset.parse(PLAIN.replace("BOUNDS", bounds), frame=frame) as dataset:
        first = date.fromisoformat(bounds[1:11])
        assert totals_of(dataset.sum("age")) == [[125]]
        assert totals_of(dataset.sum("cost")) == [[12]]
        assert totals_of(dataset.count().by("clinic")) == [[1], [0]]
        assert totals_of(dataset.count().by("smoker")) == [[2], [1]]
        days = sum((day - first).days for day in (date(2026, 1, 3), date(2026, 2, 1)))
        assert totals_of(dataset.mean("moment"))[0][0] == days


STRANGE: list[Any] = [5, 5.5, float("nan"), True, b"north", b"\xff", ("north",), ["north"], {"a": 1}, Decimal("1.5"),
                      date(2026, 1, 1), datetime(2026, 1, 1), object(), "", "a" * 10_000, "\0", "\ud800"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("strange", STRANGE, ids=lambda value: type(value).__name__)
def test_a_strange_object_in_a_pandas_frame_is_no_key(strange: Any) -> None:
    """In a pandas column of objects, whatever one row holds, the totals of the others are as they were."""
    pandas = pytest.importorskip("pandas")
    found = []
    for clinics in (["north", "south", "south"], ["north", strange, "south", "south"]):
        frame = pandas.DataFrame({"clinic": pandas.Series(clinics, dtype=object), "age": [5] * len(clinics)})
        text = '[dataset]\nname = "visits"\nunit = "row"\n[columns]\nage.bounds = "[0, 120] step 1"\n'
        text += 'clinic.keys = ["north", "south"]\n[budget]\ntotal = 1'
        with Dataset.parse(text, frame=frame) as dataset:
            found.append(totals_of(dataset.count().by("clinic")))
    assert distance(*found) <= 1


@pytest.mark.parametrize("given", [5, "text", [1, 2], {"a": [1]}, object()])
def test_what_is_no_frame_is_refused(given: Any) -> None:
    """What is no frame is refused when it is first needed."""
    with pytest.raises(InvalidContract, match="a frame must be"):
        _ = Dataset.parse(PLAIN.replace("BOUNDS", "[2026-01-01, 2026-12-31]"), frame=given).engine


# Types of DuckDB alone.

ONE_COLUMN = '[dataset]\nname = "visits"\nunit = "row"\n[columns.x]\n{}\n[budget]\ntotal = 1\n'
INTEGER_TYPES = {
    **{f"{sign}{name}": (bits, not sign) for sign in ("", "U") for name, bits in
       {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}.items()},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTEGER_TYPES)
@pytest.mark.parametrize("bounds", ["[-5, 100000] step 1", "[5, 70000] step 1", "[-0.5, 3] step 0.25", "[0, 10]"])
def test_integers_of_every_size_are_clipped(tmp_path: Path, kind: str, bounds: str) -> None:
    """Integers of every type, up to the ends of it, are clipped to the bounds."""
    bits, signed = INTEGER_TYPES[kind]
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    rows = [{"x": value} for value in (None, 0, 1, 7, *ends)]
    place = InDuckDB(tmp_path)
    try:
        dataset = place.dataset(rows, {"x": kind}, ONE_COLUMN.format(f'bounds = "{bounds}"'))
        for query in (dataset.sum("x"), dataset.mean("x").where("x > 0")):
            assert totals_of(query) == oracle.totals(query.question, rows, ["x"])
    except InvalidQuestion as refusal:  # a type that is too big may be refused, whatever the rows are
        assert "must hold" in str(refusal)  # noqa: PT017
    place.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", INTEGER_TYPES)
def test_integers_of_every_size_are_keys(tmp_path: Path, kind: str) -> None:
    """Integers of every type, up to the ends of it, are compared with keys."""
    bits, signed = INTEGER_TYPES[kind]
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    rows = [{"x": value} for value in (None, 0, 1, 7, *ends)]
    place = InDuckDB(tmp_path)
    try:
        dataset = place.dataset(rows, {"x": kind}, ONE_COLUMN.format("keys = [-1, 0, 7, 300, 9223372036854775807]"))
        query = dataset.count().by("x")
        assert totals_of(query) == oracle.totals(query.question, rows, ["x"])
    except InvalidQuestion as refusal:
        assert "must hold" in str(refusal)  # noqa: PT017
    place.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"])
@pytest.mark.parametrize("bounds", ["[2026-01-01, 2026-01-31]", "[1500-01-01, 2500-12-31]", "[0001-01-01, 9999-12-31]"])
def test_days_of_every_type_are_clipped(tmp_path: Path, kind: str, bounds: str) -> None:
    """Dates and timestamps of every type, also infinite ones, are clipped to bounds however wide."""
    low, high = (date.fromisoformat(end) for end in bounds[1:-1].split(", "))
    rows = [{"x": value} for value in (None, "2026-01-05", "1700-01-01", "infinity", "-infinity")]
    place = InDuckDB(tmp_path)
    dataset = place.dataset(rows, {"x": kind}, ONE_COLUMN.format(f'bounds = "{bounds}"'))
    days = (date(2026, 1, 5), date(1700, 1, 1), high, low)
    expected = sum((max(low, min(high, day)) - low).days for day in days)
    assert totals_of(dataset.mean("x")) == [[expected, 4 * (high - low).days - expected]]
    assert totals_of(dataset.count().where("x > '2026-01-04'")) == [[2]]
    place.close()


def test_an_enumeration_is_text(tmp_path: Path) -> None:
    """A column of an enumerated type is compared with keys as text is, also with keys that it cannot hold."""
    place = InDuckDB(tmp_path)
    rows = [{"x": value} for value in ("a", "b", "z", None)]
    dataset = place.dataset(rows, {"x": "ENUM('a', 'b', 'z')"}, ONE_COLUMN.format('keys = ["a", "c", "z"]'))
    assert totals_of(dataset.count().by("x")) == [[1], [0], [1]]
    place.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "column", "why"),
    [
        ("text", 'bounds = "[0, 5] step 1"', "must hold"),
        ("int", 'bounds = "[2026-01-01, 2026-12-31]"', "must hold dates"),
        ("date", 'bounds = "[0, 5] step 1"', "must hold"),
        ("int", 'keys = ["a"]', "must hold text"),
        ("text", "keys = [1]", "must hold integers"),
        ("int", "keys = [true]", "must hold true or false"),
        ("float8", "keys = [1]", "must hold integers"),
    ],
)
def test_a_column_of_another_type_is_refused_unseen(engine_place: Place, kind: str, column: str, why: str) -> None:
    """A table whose columns do not hold what the contract says is refused before it is paid for, on every engine."""
    dataset = engine_place.dataset([], {"x": kind}, ONE_COLUMN.format(column))
    with pytest.raises(InvalidQuestion, match=why):
        dataset.count().plan(1)


@pytest.mark.slow
def test_a_column_that_is_not_there_is_told(engine_place: Place) -> None:
    """A table that lacks a column of the contract, or the unit, is refused before it is paid for."""
    dataset = engine_place.dataset([], {"y": "int"}, ONE_COLUMN.format("keys = [1]"))
    with pytest.raises(InvalidQuestion, match="a column 'x', but the table 'visits' has no such"):
        dataset.count().plan(1)
    text = ONE_COLUMN.format("keys = [1]").replace('"row"', '"person"\nmax_rows_per_unit = 1')
    with pytest.raises(InvalidQuestion, match="names 'person' as the unit"):
        engine_place.dataset([], {"x": "int"}, text).count().plan(1)
    with pytest.raises(InvalidQuestion, match="the unit 'person' must be"):
        engine_place.dataset([], {"x": "int", "person": "float8"}, text).count().plan(1)


def test_a_table_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A table that the database does not have is refused, and the database's message kept back."""
    path = tmp_path / "x.duckdb"
    duckdb.connect(str(path)).close()
    text = ONE_COLUMN.format("keys = [1]").replace("[dataset]\n", f"[dataset]\nsource = '{path}'\ntable = 'nothing'\n")
    with pytest.raises(InvalidContract, match="cannot read the source"):
        Dataset.parse(text).count().plan(1)
    path.write_bytes(b"no database")
    with pytest.raises(InvalidContract, match="as a DuckDB file"):
        Dataset.parse(text).count().plan(1)


@pytest.mark.thorough
def test_a_table_that_is_not_in_postgres_is_told(tmp_path: Path) -> None:
    """A table that PostgreSQL does not have, or a server that is not there, is refused."""
    url = postgres_url()
    place = InPostgres(tmp_path, url)
    for source in (url, "postgresql://nobody@127.0.0.1:1/nothing"):
        text = ONE_COLUMN.format("keys = [1]").replace(
            "[dataset]\n", f"[dataset]\nsource = '{source}'\ntable = 'x.y'\n"
        )
        with pytest.raises(InvalidContract, match="the table in PostgreSQL cannot be read"):
            Dataset.parse(text).count().plan(1)
    place.close()


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.thorough
def test_a_table_that_is_not_in_spark_is_told(tmp_path: Path, spark: Any) -> None:
    """A table that Spark does not have is refused."""
    place = InSpark(tmp_path, spark)
    text = ONE_COLUMN.format("keys = [1]").replace("[dataset]\n", "[dataset]\nsource = 'spark'\ntable = 'nothing'\n")
    with pytest.raises(InvalidContract, match="the table in Spark cannot be read"):
        Dataset.parse(text, spark=spark).count().plan(1)
    place.close()


@pytest.mark.thorough
def test_a_spark_session_that_is_gone_is_a_failure_without_words() -> None:
    """Whatever is raised on the way to Spark is a failure of the engine, and its message is not repeated."""
    engine = pytest.importorskip("inbounds.query.engines.spark", exc_type=ImportError)

    class Gone:
        def sql(self, statement: str) -> None:
            raise ConnectionError("the secret 731954")

    with pytest.raises(EngineFailed, match="ConnectionError") as caught:
        engine.Spark(Gone(), "visits").run("SELECT 1")
    assert "731954" not in str(caught.value)


@pytest.mark.thorough
def test_a_session_of_spark_connect_that_was_stopped_is_a_failure() -> None:
    """A session that was stopped, of Spark Connect too, is a failure of the engine, whoever raises what."""
    with sail_session() as session:
        engine = import_module("inbounds.query.engines.spark").Spark(session, "visits")
        assert engine.run("SELECT 1") == [(1,)]
        session.stop()
        with pytest.raises(EngineFailed):
            engine.run("SELECT 1")
        with pytest.raises(InvalidContract, match="the table in Spark cannot be read"):
            engine.kinds()


CLIENT_ALONE = """
import sys
from types import ModuleType

sys.modules.update({"py4j": None, "grpc": None, "pyspark": ModuleType("pyspark"), "pyspark.sql": None})
errors = sys.modules["pyspark.errors"] = ModuleType("pyspark.errors")
errors.PySparkException = type("PySparkException", (Exception,), {})
import inbounds.query.engines.spark
"""


def test_the_engine_for_spark_needs_no_bridge_to_java() -> None:
    """Of PySpark its errors are enough, as its client has them: a session that somebody has brings the rest."""
    subprocess.run([sys.executable, "-c", CLIENT_ALONE], check=True, timeout=PATIENCE)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["text", "bigint", "decimal(20, 0)", "uuid"])
def test_units_may_be_anything_that_is_equal_or_not(engine_place: Place, unit: str) -> None:
    """Rows belong to one unit exactly if their unit is equal, whatever type it has; NULL is no unit."""
    if unit == "uuid" and engine_place.name in ("spark", "sail"):
        pytest.skip("Spark has no such type")
    who: dict[str, list[Any]] = {
        "text": ["a", "A", " a", "", "é", None],
        "bigint": [0, -1, 2**63 - 1, -(2**63), 7, None],
        "decimal(20, 0)": [*map(Decimal, (0, -1, 10**19, -(10**19), 7)), None],
        "uuid": [*(f"00000000-0000-0000-0000-00000000000{i}" for i in range(5)), None],
    }
    rows = [{"x": 1, "person": person} for i, person in enumerate(who[unit]) for _ in range(i + 1)]
    text = ONE_COLUMN.format("keys = [1]").replace('"row"', '"person"\nmax_rows_per_unit = 2')
    dataset = engine_place.dataset(rows, {"x": "int", "person": unit}, text)
    for query in (dataset.count(), dataset.count_units()):
        assert totals_of(query) == oracle.totals(query.question, rows)


NOTES = """
[dataset]
name = "notes"
source = "SOURCE"
unit = "pid"
max_rows_per_unit = 2
[columns.x]
bounds = "[0, 100] step 1"
[budget]
total = 1
"""


def test_a_comma_in_quotes_makes_no_other_unit(tmp_path: Path) -> None:
    """One person is one unit, however many lines they have and whatever commas and quotes their notes hold."""
    others = b"".join(b"plain,%d,50\n" % i for i in range(20))
    mine = b"".join(b'"seen at %d h, ""again"", later",7,50\n' % i for i in range(90))
    torn = b"".join(b"seen at %d h, again %d,7,50\n" % (i, i) for i in range(90))
    (tmp_path / "notes.csv").write_bytes(b"note,pid,x\n" + others + mine + torn)
    with Dataset.parse(NOTES.replace("SOURCE", str(tmp_path / "notes.csv"))) as dataset:
        units, rows = (totals_of(query)[0][0] for query in (dataset.count_units(), dataset.count()))
        assert units == 20 * dataset.count_units().plan(1).request.weights.one
        assert rows == (19 + 2) * dataset.count().plan(1).request.weights.one  # of person 7, two rows count


def test_files_with_different_headers_are_refused(tmp_path: Path) -> None:
    """Columns of a pattern's csv files are those of their headers, or nothing is read; parquet is read by name."""
    (tmp_path / "a.csv").write_text("pid,x\n1,50\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("x,pid\n1,50\n", encoding="utf-8")
    with (
        Dataset.parse(NOTES.replace("SOURCE", str(tmp_path / "*.csv"))) as dataset,
        pytest.raises(InvalidContract, match=r"line 4: .*different headers"),
    ):
        dataset.count().explain(1)


def test_a_header_with_an_open_quote_shows_no_row(tmp_path: Path) -> None:
    """What is said of a header that cannot be read holds nothing of the lines below it."""
    (tmp_path / "notes.csv").write_text('pid,x,"note\n1,50,secret\n', encoding="utf-8")
    with (
        Dataset.parse(NOTES.replace("SOURCE", str(tmp_path / "notes.csv"))) as dataset,
        pytest.raises(InvalidContract, match="header") as refusal,
    ):
        dataset.count().explain(1)
    assert "secret" not in str(refusal.value)


def test_parquet_files_are_read_by_their_common_type(tmp_path: Path) -> None:
    """A value that only the type of the second file can hold makes no statement fail."""
    for name, kind, value in (("a", "INTEGER", 7), ("b", "BIGINT", 3_000_000_000)):
        path = tmp_path / f"{name}.parquet"
        duckdb.sql(f"COPY (SELECT 1 AS pid, CAST({value} AS {kind}) AS x) TO '{path}' (FORMAT parquet)")
    with Dataset.parse(NOTES.replace("SOURCE", str(tmp_path / "*.parquet"))) as dataset:
        found = totals_of(dataset.sum("x"))[0][0]
        assert found == (7 + 100) * dataset.sum("x").plan(1).request.weights.one


NAMED = """
[dataset]
name = "visits"
source = 'SOURCE'
unit = "row"
[columns]
age.bounds = "[0, 120] step 1"
[budget]
total = 1
"""


def write_ages(path: Path) -> None:
    """Write a file with the ages 30, 40 and 50."""
    path.parent.mkdir(exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT unnest([30, 40, 50]) AS age) TO '{path}'")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("folder", ["plain", "age=5", "AGE=5", "line=5", "f=5", "year=2026"])
@pytest.mark.parametrize("pattern", ["FOLDER/visits", "*/visits"])
def test_the_name_of_a_folder_is_no_column(tmp_path: Path, kind: str, folder: str, pattern: str) -> None:
    """Whatever a folder is called, a table has the columns of its files, with the values that are in them."""
    write_ages(tmp_path / folder / f"visits.{kind}")
    source = tmp_path / f"{pattern.replace('FOLDER', folder)}.{kind}"
    with Dataset.parse(NAMED.replace("SOURCE", str(source))) as dataset:
        assert list(dataset.engine.kinds()) == ["age"]
        assert totals_of(dataset.sum("age")) == [[30 + 40 + 50]]
        assert totals_of(dataset.count().where("age = 5")) == [[0]]


HIERARCHY = """
[dataset]
name = "visits"
UNIT
[columns.region]
keys = ["city", "land"]
[columns.district]
keys = ["harbour", "hills", "old town"]
within = "region"
map = { "old town" = "city", "harbour" = "city", "hills" = "land" }
[columns.sex]
keys = [1, 2]
[columns.size]
bounds = "[-3, 7] step 1"
[budget]
total = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("unit", ['unit = "row"', 'unit = "who"\nmax_rows_per_unit = 3'], ids=["rows", "units"])
def test_tables_with_totals_have_the_same_cells_everywhere(engine_place: Place, unit: str) -> None:
    """On every engine a question for groupings runs one statement, that of the finest cells, with the totals of plain
    Python; coarser columns are not even read."""
    places = ["harbour", "hills", "old town", "elsewhere", None]
    rows = [
        {"who": i % 13, "region": "land", "district": places[i % 5], "sex": i % 3, "size": i % 12 - 4}
        for i in range(120)
    ]
    types = {"who": "int", "region": "text", "district": "text", "sex": "int", "size": "int"}
    dataset = engine_place.dataset(rows, types, HIERARCHY.replace("UNIT", unit))
    sets = [("region", "district", "sex"), ("region", "district"), ("region",), ("sex",), ()]
    for query in (dataset.count(), dataset.count_units(), dataset.sum("size")):
        plan = query.groupings(*sets).plan(1)
        assert "region" not in plan.sql
        assert "GROUPING" not in plan.sql.upper()
        finest = query.groupings(("district", "sex"))
        assert plan.sql == finest.plan(1).sql
        found = plan.totals(dataset.engine.run(plan.sql))
        assert found == oracle.totals(finest.question, rows, ["who", "sex", "size"])
        assert len(found) == 6
