"""What the tests of reports share: a table of ninety people, a report about it, and a schema to publish to."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

import pytest

from inbounds.publish import Report, ReportFile, plan_report, run_report
from inbounds.query import Dataset, Query
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.engine_places import postgres_url
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES

REPORT = """
-- report: towns
-- edition: 1

-- name: people
-- epsilon: 0.5
SELECT COUNT(*) AS people FROM visits;

-- name: by_sex
-- epsilon: 0.5
SELECT sex, COUNT(*) AS people FROM visits GROUP BY sex ORDER BY people DESC;

-- name: costs
-- epsilon: 0.25
SELECT sex, AVG(cost) AS cost FROM visits GROUP BY sex;
"""


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[Playground]:
    """A table of 90 rows, and a ledger."""
    with Playground(
        contract(COLUMNS, unit="row", budget="total = 10\nper_analyst = 8"), TYPES, tmp_path / "b.db"
    ) as it:
        it.fill(ROWS)
        yield it


@pytest.fixture
def schema() -> Iterator[str]:
    """Yield the target of a schema that is not there yet, and remove it afterwards."""
    import psycopg  # noqa: PLC0415

    url, name = postgres_url(), f"Report {uuid4().hex}"
    yield f"{url}{'&' if '?' in url else '?'}schema={name.replace(' ', '%20')}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'.encode())


@pytest.fixture
def wanted_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a question find the least epsilon for an error, in 64ths."""

    def epsilon_for(self: Query, *, error: Fraction, rows: int | None = None) -> Fraction:
        del rows
        for steps in range(1, 64 * 4):
            errors = self.explain(Fraction(steps, 64)).parts[0].expected_errors["on average"]
            if next(iter(errors.values())) <= error:
                return Fraction(steps, 64)
        raise AssertionError("no epsilon up to 4 is enough")

    monkeypatch.setattr(Query, "epsilon_for", epsilon_for, raising=False)


def publish(dataset: Dataset, text: str = REPORT, analyst: str = "office") -> Report:
    """Plan a report and run it."""
    return run_report(plan_report(ReportFile.parse(text), dataset, analyst), dataset)


def spent(dataset: Dataset) -> Fraction:
    """Return what is spent in all."""
    return dataset.ledger.balance(dataset.name).spent
