"""Certificates of what a table is asked: explained beforehand, and checked by the program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inbounds.cli.clinic.clinic import build
from inbounds.query import Dataset
from tests.helpers.certificates import HOLDS, found

QUESTIONS = {
    "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic": "joint",
    "SELECT COUNT(*) FROM visits": "",
    "SELECT SUM(minutes) FROM visits": "",
    "SELECT AVG(minutes) FROM visits": "",
    "SELECT MEDIAN(age) FROM visits": "rank",
    "SELECT QUANTILES(day, 0.1, 0.5, 0.75, 0.9) FROM visits": "rank",
}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The made-up clinic."""
    folder: Path = tmp_path_factory.mktemp("clinic")
    return Dataset.load(build(folder))


@pytest.mark.parametrize(("sql", "kind"), QUESTIONS.items())
def test_what_is_explained_can_be_checked(clinic: Dataset, sql: str, kind: str) -> None:
    """Each part of an explanation has a certificate that holds, for the epsilon of the part."""
    for part in clinic.sql(sql).explain(0.7).parts:
        assert part.certificate is not None
        document = json.loads(part.certificate.to_json())
        assert found(document)[0] == HOLDS, document
        assert document["law"]["kind"] == (kind or document["law"]["kind"])
        assert "certificate" not in part.data()
