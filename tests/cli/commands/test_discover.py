"""`inbounds discover`: what is found out stands in the contract afterwards, and the ledger knows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from inbounds.query.ask.discovering.limit_discovery import DiscoveredLimit
from tests.cli.conftest import Type, sql

WHO = ("--dataset", "clinic.toml", "--analyst", "ana")
LIMIT = ("discover", "limit", *WHO, "--epsilon", "2")
BOUNDS = ("discover", "bounds", *WHO, "--epsilon", "2", "--column", "cost", "--within", "[0, 10000] step 1")


def read(clinic: Path) -> dict[str, Any]:
    """Return what the contract says."""
    return tomllib.loads((clinic / "clinic.toml").read_text("utf-8"))


def test_a_limit_is_written_and_recorded(typed: Type, clinic: Path) -> None:
    """Afterwards the contract has the limit, the ledger its terms, and questions are asked as ever."""
    found = typed(*LIMIT, "--request-id", "limit", "--json").data
    limit = found["max_rows_per_unit"]
    assert read(clinic)["dataset"]["max_rows_per_unit"] == limit
    assert found["ledger_created"]
    with Dataset.load(clinic / "clinic.toml") as visits:
        terms = visits.recorded_terms()
        assert terms is not None
        assert terms["max_rows_per_unit"] == str(limit)
        assert visits.ledger.balance("visits").spent == 2
    asked = typed("query", *WHO, "--epsilon", "0.5", "SELECT COUNT(*) FROM visits")
    assert asked.code == 0
    text = (clinic / "clinic.toml").read_text("utf-8")
    again = typed(*LIMIT, "--request-id", "limit", "--json").data
    assert again == {**found, "ledger_created": False}
    assert (clinic / "clinic.toml").read_text("utf-8") == text


def test_a_limit_of_least_error_is_written(typed: Type, clinic: Path) -> None:
    """It is a power of two; what it costs, what it is meant for and how many units it may cut are said."""
    found = typed(*LIMIT, "--least-error", "--next-epsilon", "0.5", "--request-id", "limit", "--json").data
    limit = found["max_rows_per_unit"]
    assert limit in {2**j for j in range(11)}
    assert read(clinic)["dataset"]["max_rows_per_unit"] == limit
    assert found["next_epsilon"] == 0.5
    assert found["expected_loss"].startswith("with 95 % confidence at most ")
    again = typed(*LIMIT, "--least-error", "--next-epsilon", "0.5", "--request-id", "limit", "--json").data
    assert again == {**found, "ledger_created": False}
    refused = typed(*LIMIT, "--next-epsilon", "0.5")
    assert refused.code == 2
    assert "least_error" in refused.err


def test_a_contract_need_not_have_a_limit(typed: Type, clinic: Path) -> None:
    """Without one, other commands name this one, and it completes the contract."""
    contract = clinic / "clinic.toml"
    lines = contract.read_text("utf-8").splitlines(keepends=True)
    contract.write_text("".join(line for line in lines if "max_rows" not in line), encoding="utf-8")
    refused = typed("query", *WHO, "--epsilon", "0.5", "SELECT COUNT(*) FROM visits")
    assert refused.code == 2
    assert "inbounds discover limit" in refused.err
    found = typed(*LIMIT)
    assert found.code == 0
    assert "written into the contract" in found.out
    assert read(clinic)["dataset"]["max_rows_per_unit"] >= 1
    assert typed("query", *WHO, "--epsilon", "0.5", "SELECT COUNT(*) FROM visits").code == 0


def test_bounds_are_written_and_recorded(typed: Type, clinic: Path) -> None:
    """Afterwards the contract has the column, the ledger its terms, and questions about it are asked."""
    found = typed(*BOUNDS, "--request-id", "bounds", "--json").data
    assert read(clinic)["columns"]["cost"] == {"bounds": found["bounds"]}
    text = (clinic / "clinic.toml").read_text("utf-8")
    assert "request id bounds\n# expected loss: about 1 % of the rows" in text
    assert typed("query", *WHO, "--epsilon", "0.5", "SELECT AVG(cost) FROM visits").code == 0
    again = typed(*BOUNDS, "--request-id", "bounds", "--json").data
    assert again == {**found, "ledger_created": False}
    assert (clinic / "clinic.toml").read_text("utf-8") == text


def test_a_failure_leaves_the_contract_as_it_was(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writing fails, the contract is whole, nothing is left beside it, and the request is repeated for free."""
    before, names = (clinic / "clinic.toml").read_text("utf-8"), {path.name for path in clinic.iterdir()}

    def fail(*_: Any) -> str:
        raise InvalidContract("it was changed meanwhile; add it yourself")

    def stop(*_: Any) -> str:
        raise KeyboardInterrupt

    for failure, code in ((fail, 2), (stop, 130)):
        with monkeypatch.context() as patch:
            patch.setattr(DiscoveredLimit, "write_into", failure)
            found = typed(*LIMIT, "--request-id", "limit")
        assert found.code == code
        assert "--request-id limit" in found.err
        assert (clinic / "clinic.toml").read_text("utf-8") == before
        assert {path.name for path in clinic.iterdir()} - names <= {"clinic.ledger.db", "clinic.ledger.db-lock"}
    assert typed(*LIMIT, "--request-id", "limit").code == 0
    with Dataset.load(clinic / "clinic.toml") as visits:
        assert visits.ledger.balance("visits").spent == 2


def test_a_place_that_cannot_be_written_to_is_refused_first(
    typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever cannot write the contract pays nothing for what should stand there."""

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        assert typed(*LIMIT).code == 2
    assert not (clinic / "clinic.ledger.db").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*LIMIT, "--most", "1.5"), "--most must be a whole number"),
        ((*LIMIT, "--level", "2"), "level"),
        ((*LIMIT, "--table", "none"), "there is no table"),
        ((*BOUNDS, "--outside", "x"), "--outside must be a number"),
        ((*BOUNDS[:-1], "0 to 9"), "bounds"),
    ],
)
def test_bad_words_cost_nothing(typed: Type, clinic: Path, words: tuple[str, ...], said: str) -> None:
    """What cannot be discovered is refused, and the contract stays as it was."""
    before = (clinic / "clinic.toml").read_text("utf-8")
    found = typed(*words)
    assert found.code == 2
    assert said in found.err
    assert (clinic / "clinic.toml").read_text("utf-8") == before


@pytest.mark.parametrize("words", [("discover",), ("discover", "keys"), ("discover", "limit"), ("discover", "bounds")])
def test_every_help_names_the_free_way(typed: Type, words: tuple[str, ...]) -> None:
    """Before anybody pays, the help says what the custodian can see for nothing."""
    assert "inbounds check" in " ".join(typed(*words, "--help").out.split())


def test_the_old_name_works_and_is_not_advertised(typed: Type) -> None:
    """`keys discover` is `discover keys`, for whoever knows it."""
    assert "discover" not in typed("keys", "--help").out
    old, new = typed("keys", "discover", "--help"), typed("discover", "keys", "--help")
    assert old.out.partition("\n")[2] == new.out.partition("\n")[2]


def test_tables_without_a_limit_are_completed_one_after_the_other(typed: Type, shop: Path) -> None:
    """The table of the units says no limit, which is 1; each other table is asked about in turn, and keys are found."""
    who = ("--dataset", "shop.toml", "--analyst", "ana", "--epsilon", "5")
    for table in ("orders", "lines", "orders"):
        found = typed("discover", "limit", *who, "--table", table, "--most", "8")
        assert (found.code, found.err.count("LedgerConflict")) == (0, 0)
    said = tomllib.loads((shop / "shop.toml").read_text("utf-8"))
    assert "max_rows_per_unit" not in said["dataset"]
    assert all("max_rows_per_unit" in table for table in said["tables"].values())
    keys = typed("discover", "keys", *who, "--table", "lines", "--column", "colour", "--delta", "1e-4", "--json")
    assert (keys.code, keys.data["table"], keys.data["keys"]) == (0, "lines", ["red"])
    said = tomllib.loads((shop / "shop.toml").read_text("utf-8"))
    assert said["tables"]["lines"]["columns"] == {"colour": {"keys": ["red"]}}
    assert typed("query", *who, "SELECT colour, COUNT(*) FROM lines GROUP BY colour").code == 0


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the contract and the files of a shop: 400 customers, their orders, and lines that belong to these."""
    monkeypatch.chdir(tmp_path)
    sql("COPY (SELECT i AS customer, i % 90 AS age FROM range(400) t(i)) TO 'customers.parquet'")
    sql("COPY (SELECT i AS number, i // 2 AS customer FROM range(800) t(i)) TO 'orders.parquet'")
    sql("COPY (SELECT i // 3 AS number, 'red' AS colour FROM range(2400) t(i)) TO 'lines.parquet'")
    text = (
        '[dataset]\nname = "customers"\nsource = "customers.parquet"\nunit = "customer"\n[columns.age]\n'
        'bounds = "[0, 99] step 1"\n[tables.orders]\nsource = "orders.parquet"\nunit = "customer"\nkey = "number"\n'
        '[tables.lines]\nsource = "lines.parquet"\nbelongs_to = "orders"\non = { number = "number" }\n'
        "[budget]\ntotal = 100\ndelta = 0.01\ndelta_reserved = 0.009\n"
    )
    (tmp_path / "shop.toml").write_text(text, encoding="utf-8")
    return tmp_path
