"""A password is never shown, however an address is misspelt."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbounds.errors import InboundsError, InvalidParameter
from inbounds.ledger import Ledger
from inbounds.ledger.values.address import HIDDEN, distinct_place, is_address, without_secrets
from inbounds.query import Dataset

SECRET = "hunter2"

CONTRACT = """
[dataset]
name = "visits"
source = '{source}'
table = "visits"
unit = "row"
[columns.age]
bounds = "[0, 120]"
[budget]
total = 1
ledger = '{ledger}'
"""

punctuation = st.sampled_from(["", "/", "//", ":", "@", " ", "://", ":/", "\t"])
schemes = st.sampled_from(
    ["postgresql", "postgres", "POSTGRESQL", "postgre", "pg", "mysql", "jdbc:postgresql", "", "s3"]
)
endings = st.sampled_from(["", "/db", "/db.duckdb", "/t.csv", "/t.parquet", "/budget.db", "?sslmode=require"])


@st.composite
def misspelt(draw: st.DrawFn) -> str:
    """Return an address with a password, some of its punctuation missing, doubled or exchanged."""
    scheme, colon, slashes = (
        draw(schemes),
        draw(st.sampled_from([":", "", ";"])),
        draw(st.sampled_from(["", "/", "//"])),
    )
    user, between = draw(st.sampled_from(["ada", "", "ada%20b"])), draw(st.sampled_from([":", "::", "/", "%3A"]))
    at, host = draw(st.sampled_from(["@", "@@", "@ "])), draw(st.sampled_from(["127.0.0.1:1", "h", "[bad", ""]))
    return f"{draw(punctuation)}{scheme}{colon}{slashes}{user}{between}{SECRET}{at}{host}{draw(endings)}"


def told(refused: pytest.ExceptionInfo[InboundsError]) -> str:
    """Return all that a person may see of a refusal."""
    return "".join(traceback.format_exception(refused.value, limit=0)) + repr(refused.value)


@pytest.mark.slow
@given(misspelt())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_misspelt_address_of_a_ledger_shows_its_password(tmp_path: Path, address: str) -> None:
    """Whatever it is taken for, a path or a server."""
    with pytest.raises(InboundsError) as refused:
        Ledger.open(str(tmp_path / address) if address.startswith("/") else address, create=False)
    assert SECRET not in told(refused)
    assert SECRET not in without_secrets(address)


@given(misspelt())
@settings(max_examples=30, deadline=None)
def test_no_misspelt_address_in_a_contract_shows_its_password(address: str) -> None:
    """As the source of a table, and as its ledger."""
    contract = CONTRACT.format(source=address, ledger=address)
    with Dataset.parse(contract, create_ledger=False) as dataset:
        with pytest.raises(InboundsError) as refused:
            dataset.count().explain(1)
        assert SECRET not in told(refused)
        with pytest.raises(InboundsError) as refused:
            _ = dataset.ledger
        assert SECRET not in told(refused)


@pytest.mark.parametrize("path", ["budget.db", "/data/a b/budget.db", "C:\\data\\budget.db", "data/ä.db", "a:b.db"])
def test_a_path_is_shown_as_it_is(path: str) -> None:
    """What cannot hold a password is told, since whoever mistyped it looks for it."""
    assert without_secrets(path) == path
    assert not is_address(path)


@pytest.mark.parametrize("path", ["/data/ada@work/budget.db", "/data/passwords/budget.db"])
def test_a_path_that_might_hold_a_password_is_used_but_not_shown(tmp_path: Path, path: str) -> None:
    """A folder may have an @ in its name."""
    where = tmp_path / path.lstrip("/")
    where.parent.mkdir(parents=True)
    with Ledger.open(where) as ledger:
        ledger.open_dataset("clinic", 1)
        assert repr(ledger) == f"<Ledger {HIDDEN}>"


def test_the_keywords_of_a_connection_are_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What PostgreSQL's own tools read as a connection is refused unseen, and no file is called like it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameter) as refused:
        Ledger.open("host=localhost password=S3CRET dbname=budget")
    assert "S3CRET" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://bucket-a/x.parquet", "s3://bucket-b/x.parquet"),
        ("passengers.parquet", "passed_exam.parquet"),
        ("postgresql://hosta/clinic", "postgresql://hostb/clinic"),
        ("postgresql://ada:p@h/clinic?options=-csearch_path=a", "postgresql://ada:p@h/clinic?options=-csearch_path=b"),
        ("visits.csv", "other.csv"),
    ],
)
def test_two_places_are_told_apart_without_being_shown(one: str, other: str) -> None:
    """What may hold a password is not shown, and is still another place than any other."""
    assert distinct_place(one) != distinct_place(other)


@pytest.mark.parametrize("other", ["ada:other@", "ben:p@ss@"])
def test_who_asks_a_server_is_no_part_of_the_place(other: str) -> None:
    """Another user or password is the same place: a digest of a password could be guessed."""
    address = "postgresql://{}db.example/clinic?connect_timeout=9&password={}"
    assert distinct_place(address.format(other, "z")) == distinct_place(address.format("ada:hunter2@", "x"))
    assert distinct_place("postgresql://ada:hunter2@db.example/clinic") == "postgresql://db.example/clinic"
