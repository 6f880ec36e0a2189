"""`inbounds query` and `inbounds explain`: questions to a table, and what they cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlglot

from inbounds.cli.commands.explain import fold
from inbounds.errors import EngineFailed, LedgerUnavailable
from inbounds.ledger import Ledger
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.methods.usefulness import INSIST
from tests.cli.conftest import Type, within_80

CLINIC = ("--dataset", "clinic.toml")
MEAN = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


def test_a_question_is_answered_and_charged(typed: Type, clinic: Path) -> None:
    """Both forms hold one answer a group and what it cost; the ledger has the charge."""
    text = typed("query", *CLINIC, "--epsilon", "0.50", "--analyst", "ana", MEAN)
    data = typed("query", *CLINIC, "--epsilon", "0.5", "--analyst", "ana", MEAN, "--json").data
    assert text.code == 0
    assert within_80(text.out)
    assert [row["clinic"] for row in data["rows"]] == ["north", "south", "east", "west"]
    assert all(0 <= row["mean_age"] <= 110 for row in data["rows"])
    assert all(row["clinic"] in text.out for row in data["rows"])
    for line in ("cost (ε)      0.50", "ana's budget  0.5 of 3 spent, 2.5 left"):
        assert f"\n{line}\n" in text.out
    assert "\ntotal budget  0.5 of 5 spent, 4.5 left\n" in text.out
    assert data["budget"]["analyst"] == {"cap": 3, "spent": 1, "left": 2}
    assert data["budget"]["total"] == {"cap": 5, "spent": 1, "left": 4}
    shown = typed("budget", "show", *CLINIC, "--analyst", "ana", "--json").data
    assert shown["total"] == {"cap": 5, "spent": 1, "left": 4}
    assert shown["analyst"] == {"name": "ana", "cap": 3, "spent": 1, "left": 2}


def test_the_same_request_is_free(typed: Type, clinic: Path) -> None:
    """Asked again with the same request id, the answer is the same and costs nothing."""
    words = ("query", *CLINIC, "--epsilon", "2", "--analyst", "ana", "--request-id", "one", "--json", MEAN)
    first, again = typed(*words).data, typed(*words).data
    assert (first.pop("ledger_created"), again.pop("ledger_created")) == (True, False)
    assert first == again
    assert typed("budget", "show", *CLINIC, "--json").data["total"]["spent"] == 2


def test_intervals_can_hold_at_once(typed: Type, clinic: Path) -> None:
    """With --simultaneous the answer and its explanation say that all intervals hold at once."""
    words = (*CLINIC, "--epsilon", "1", "--simultaneous", TOTALS)
    assert "intervals hold at once" in typed("explain", *words).out
    assert "simultaneous" in typed("query", *words, "--analyst", "ana").out
    data = typed("query", *words, "--analyst", "ana", "--json").data
    assert data["simultaneous"] is True


def test_what_tells_nothing_is_refused_until_it_is_forced(typed: Type, clinic: Path) -> None:
    """A condition that no row can meet is refused, with what to do, and charged only with --force."""
    words = ("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", "SELECT COUNT(*) FROM visits WHERE age > 200")
    found = typed(*words)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("inbounds: no row can meet age > 200")
    assert found.err.endswith(f"{INSIST}\n")
    assert not list(clinic.glob("*.db")), "not even a ledger was made"
    assert typed(*words, "--force").code == 0
    assert typed("budget", "show", *CLINIC, "--json").data["total"]["spent"] == 1


def test_what_is_public_is_free(typed: Type, clinic: Path) -> None:
    """The answer says that it is public and cost 0; there is no request to ask for again."""
    words = ("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", "SELECT AVG(age) FROM visits WHERE age = 40")
    found, data = typed(*words), typed(*words, "--json").data
    assert found.code == 0
    assert "\ncost (ε)      0\n" in found.out
    assert "public knowledge" in found.out
    assert "request id" not in found.out
    assert (data["rows"], data["public"], data["epsilon"]) == ([{"mean_age": 40.0}], ["mean_age"], 0)
    assert typed("budget", "show", *CLINIC, "--json").data["total"]["spent"] == 0


def test_a_budget_refuses(typed: Type, clinic: Path) -> None:
    """Over the cap the exit code is 3, nothing is said but why, and nothing is charged."""
    found = typed("query", *CLINIC, "--epsilon", "3.5", "--analyst", "ana", MEAN)
    assert (found.code, found.out) == (3, "")
    assert found.err == (
        "inbounds: 'ana' cannot spend 3.5 on 'visits': the dataset has 5 left and 'ana' has 3 left; "
        "ask for less, or ask the custodian to grant more\n"
    )
    assert typed("budget", "show", *CLINIC, "--json").data["total"]["spent"] == 0


def test_long_lines_of_sql_are_folded_between_words() -> None:
    """A folded statement fits 80 columns and says the same; what is quoted is never broken, even if it is too long."""
    source = "READ_PARQUET('a  folder/visits of 2026.parquet', union_by_name = TRUE, hive_partitioning = FALSE)"
    statement = f"SELECT\n  COUNT(*)\nFROM {source}\nWHERE x = 'it''s\n  one' AND " + " AND ".join(
        f"y <> {i}" for i in range(30)
    )
    shown = fold(statement)
    assert within_80(shown)
    assert sqlglot.parse_one(shown) == sqlglot.parse_one(statement)
    assert "'a  folder/visits of 2026.parquet'" in shown
    path = "'" + 40 * "ab " + "'"
    assert path in fold(f"SELECT * FROM READ_CSV({path}, delim = ';')")


def test_explaining_spends_nothing(typed: Type, clinic: Path) -> None:
    """An explanation has the same content in both forms, and leaves no ledger behind."""
    text = typed("explain", *CLINIC, "--epsilon", "0.5", MEAN)
    data = typed("explain", *CLINIC, "--epsilon", "0.5", "--pooling", "1", MEAN, "--json").data
    assert within_80(text.out.split("\nstatement\n")[0])
    assert data["question"] in text.out
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "report.sql", "visits.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", "SELECT clinic, AVG(age FROM visits"), "not SQL"),
        (("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", "SELECT patient FROM visits"), "^"),
        (("explain", *CLINIC, "--epsilon", "1", "SELECT AVG(agee) FROM visits"), "age"),
        (("explain", *CLINIC, "--epsilon", "x", MEAN), "--epsilon must be a number, got 'x'"),
        (("explain", *CLINIC, "--epsilon", "1", "--pooling", "7", MEAN), "--pooling must be from 0 to 1, got '7'"),
        (("explain", *CLINIC, "--epsilon", "1", "SELECT", "COUNT(*)", "FROM", "visits"), "quotes"),
        (("explain", "--dataset", "none.toml", "--epsilon", "1", MEAN), "none.toml"),
        (("query", *CLINIC, "--epsilon", "1", MEAN), "--analyst is missing"),
        (("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", "--request-id", "", MEAN), "1 to 200 characters"),
        (("budget", "verify", *CLINIC, "--head", "3"), "a head must"),
        (("budget", "grant", "x", *CLINIC), "EPSILON must be a number"),
    ],
)
def test_bad_questions_are_named(typed: Type, clinic: Path, words: tuple[str, ...], told: str) -> None:
    """What cannot be asked is bad input, which says what is wrong and shows no traceback."""
    typed("budget", "grant", "1", *CLINIC)
    found = typed(*words)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("inbounds: ")
    assert told in found.err
    assert "Traceback" not in found.err


def test_a_failing_database_names_the_request(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was charged can be asked again free of charge, so the request id is told when the database fails."""
    words = ("query", *CLINIC, "--epsilon", "3", "--analyst", "ana", MEAN, "--json")

    def fail(*_: object) -> None:
        raise EngineFailed("IOException")

    with monkeypatch.context() as broken:
        broken.setattr(DuckDB, "run", fail)
        found = typed(*words)
    assert (found.code, found.out) == (1, "")
    (request,) = re.findall(r"\b[0-9a-f]{32}\b", found.err)
    assert len(typed(*words, "--request-id", request).data["rows"]) == 4
    assert typed(*words).code == 3


def test_an_answer_is_shown_even_if_the_budget_cannot_be_read(
    typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was charged and answered is printed, whatever becomes of the ledger afterwards."""

    def fail(*_: object) -> None:
        raise LedgerUnavailable("it is gone")

    monkeypatch.setattr(Ledger, "balance", fail)
    words = ("query", *CLINIC, "--epsilon", "0.5", "--analyst", "ana", MEAN)
    found = typed(*words)
    assert found.code == 0
    assert "total budget  cannot be read\n" in found.out
    assert typed(*words, "--json").data["budget"] == {}


def test_a_source_that_is_broken_is_a_failure(typed: Type, clinic: Path) -> None:
    """A table that cannot be read is no fault of whoever asks: the code is not 0, and no traceback is shown."""
    (clinic / "visits.parquet").write_text("not parquet", encoding="utf-8")
    found = typed("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", MEAN)
    assert found.code in (1, 2)
    assert found.err.startswith("inbounds: ")
    assert "not parquet" not in found.err


TOTALS = "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP(clinic)"


@pytest.mark.slow
def test_a_table_with_totals_adds_up_on_80_columns(typed: Type, clinic: Path) -> None:
    """Both forms hold the same groupings, the total is what its rows add up to, and the text fits."""
    words = ("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", "--request-id", "one", TOTALS)
    text, data = typed(*words), typed(*words, "--json").data
    assert (text.code, within_80(text.out)) == (0, True)
    assert "(all)" in text.out
    *cells, total = data["rows"]
    assert total["clinic"] is None
    assert sum(row["count"] for row in cells) == total["count"]
    assert str(total["count"]) in text.out
    several = "SELECT clinic, COUNT(*), SUM(age) FROM visits GROUP BY ROLLUP(clinic)"
    for weights in ((), ("--weights", "3,1")):
        asked = (*CLINIC, "--epsilon", "0.5", *weights, several)
        assert within_80(typed("query", *asked, "--analyst", "ana").out)
        assert within_80(typed("explain", *asked).out.split("\nstatement\n")[0])


@pytest.mark.slow
def test_what_is_owned_is_free(typed: Type, clinic: Path) -> None:
    """For an epsilon of 0 a sum of an owned table is told, and nothing spent; explain says so, and others get none."""
    table = ("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",)
    owned = typed("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", *table, "--json").data
    asked = (*CLINIC, "SELECT COUNT(*) FROM visits")
    free = typed("query", *asked, "--epsilon", "0", "--analyst", "ana", "--json").data
    assert free["rows"] == [{"count": sum(row["count"] for row in owned["rows"])}]
    assert (free["epsilon"], free["request_id"]) == (0, owned["request_id"])
    assert free["budget"]["total"]["spent"] == 1
    assert "rows outside the categories" in free["note"]
    text = typed("query", *asked, "--epsilon", "0", "--analyst", "ana")
    assert within_80(text.out)
    told = typed("explain", *asked, "--epsilon", "1", "--analyst", "ana")
    assert "ana already has this" in told.out
    assert within_80(told.out.split("\nstatement\n")[0])
    other = typed("query", *asked, "--epsilon", "0", "--analyst", "bob")
    assert (other.code, other.out) == (2, "")
    assert "does not follow from the answers bob already has; give an epsilon" in other.err
    assert "owns this" not in typed("explain", *asked, "--epsilon", "1", "--analyst", "bob").out


def test_looking_for_what_is_owned_leaves_no_ledger(typed: Type, clinic: Path) -> None:
    """Where there is no ledger, an epsilon of 0 is refused, and neither it nor explain creates one."""
    asked = (*CLINIC, "SELECT COUNT(*) FROM visits", "--analyst", "ana")
    assert typed("query", *asked, "--epsilon", "0").code == 2
    assert typed("explain", *asked, "--epsilon", "1").code == 0
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "report.sql", "visits.parquet"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--weights", "1,,2", TOTALS), "--weights must be a number, got ''"),
        (("--weights", "garbage", TOTALS), "--weights must be a number, got 'garbage'"),
        (("--weights", "1,2", TOTALS), "weights must be 1 numbers above 0"),
        (("--weights", "nan", TOTALS), "--weights must be a number"),
        (("--alone", TOTALS), "leave out the totals, or alone"),
        (("--pooling", "1", TOTALS), "pooling does not apply to a table with totals"),
        (("--confidence", "1", TOTALS), "confidence must be above 0 and below 1"),
        (("--confidence", "x", TOTALS), "--confidence must be a number"),
        (("--confidence", "0.99999999999999999999", TOTALS), "confidence must be above 0 and below 1"),
        (("SELECT COUNT(*) FROM visits GROUP BY ROLLUP(nothing)",), "no column 'nothing'"),
    ],
)
def test_bad_options_of_tables_are_named_and_not_charged(
    typed: Type, clinic: Path, words: tuple[str, ...], told: str
) -> None:
    """What is wrong is named, and nothing is charged."""
    found = typed("query", *CLINIC, "--epsilon", "1", "--analyst", "ana", *words)
    assert (found.code, found.out) == (2, "")
    assert told in found.err
    assert not (clinic / "clinic.ledger.db").exists()
