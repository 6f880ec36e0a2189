"""What is left when a process that asks is killed at any moment."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from inbounds.query import Dataset
from inbounds.query.answer.kept_answer import read_kept
from tests.helpers import killed_askers
from tests.helpers.audit_tables import contract
from tests.helpers.killed_askers import EPSILON
from tests.helpers.programs import run_program
from tests.helpers.sparing import sparing

KILLS = 30

BUDGETS = {"epsilon": "total = 1000000", "rho": "total = 0.005\ndelta = 0.5"}
"""Without a delta; and with one, where epsilon is over its cap after five answers."""

needs_signals = pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")


@pytest.fixture(params=sparing(BUDGETS))
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with a small table in DuckDB and its contract."""
    with duckdb.connect(str(tmp_path / "visits.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT i // 3 AS who, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS place "
                           "FROM range(60) AS r(i)")  # fmt: skip
    described = contract('[columns.place]\nkeys = ["a", "b"]\n', limit=2, budget=BUDGETS[request.param])
    source = "[dataset]\nsource = 'visits.duckdb'\ntable = 't'"
    (tmp_path / "visits.toml").write_text(described.replace("[dataset]", source, 1))
    return tmp_path


@pytest.mark.slow
@needs_signals
def test_every_answer_that_left_was_charged(folder: Path) -> None:
    """Killed at thirty random moments, processes that ask have given no answer that is not charged and kept."""
    contract_file = folder / "visits.toml"
    with Dataset.load(contract_file) as dataset:
        assert dataset.ledger.verify().ok
    lines: list[list[str]] = []
    longest = 0.1
    while len(lines) < KILLS / 4 or len({request.split("-")[0] for request, _ in lines}) < 5:  # else nothing is tested
        longest *= 2  # a machine that is busy answers later
        told = run_program(killed_askers, str(contract_file), str(KILLS), str(longest))
        lines += [line.split(" ", 1) for line in told.splitlines()]
    with Dataset.load(folder / "visits.toml") as dataset:
        ledger = dataset.ledger
        assert ledger.verify().ok
        entries = ledger.statement("visits").entries
        charged = {entry.request_id for entry in entries if entry.kind == "charge"}
        kept = {entry.request_id: entry.text for entry in entries if entry.kind == "answer"}
        spent = ledger.balance("visits").spent
        assert all(request in charged and kept[request] == text for request, text in lines)
        assert set(kept) <= charged
        assert spent == len(charged) * Fraction(str(EPSILON))
        unanswered = sorted(charged - set(kept))
        query = dataset.count().by("place")
        for request in [*unanswered[:5], lines[0][0]]:
            query.ask(EPSILON, analyst="ana", request_id=request, pooling=1)
        again = query.ask(EPSILON, analyst="ana", request_id=lines[0][0], pooling=1)
        assert again == read_kept(lines[0][1], Fraction(str(EPSILON)), lines[0][0], again.row_limit)
        assert ledger.balance("visits").spent == spent
        assert ledger.verify().ok
