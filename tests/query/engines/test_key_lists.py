"""Long lists of keys are the same integers on every engine, and no row makes one fail."""

from __future__ import annotations

import pytest

from tests.helpers import oracle
from tests.helpers.engine_places import Place, totals_of
from tests.query.columns.test_text_keys import QUESTIONS, ROWS, TYPES, UNITS, random_rows


@pytest.mark.slow
@pytest.mark.parametrize("contract", [ROWS, UNITS], ids=["rows", "units"])
def test_engines_agree_on_long_lists_of_keys(engine_place: Place, contract: str) -> None:
    """Totals by keys that are looked up, and by keys made of them, are those of plain Python, on every engine."""
    rows = random_rows(7)
    dataset = engine_place.dataset(rows, TYPES, contract)
    for text in QUESTIONS:
        query = dataset.sql(text)
        assert totals_of(query) == oracle.totals(query.question, rows, {"place", "rating"}), text
