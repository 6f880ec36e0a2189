"""Practice data over the network: the same queries, free, marked, and nowhere kept."""

from __future__ import annotations

import pytest

from inbounds.errors import ServerRefused
from inbounds.results.answer import PRACTICE
from tests.client.conftest import Clinic

MEAN = "SELECT clinic, AVG(age) FROM visits GROUP BY clinic"


@pytest.mark.slow
def test_queries_are_tried_for_free(clinic: Clinic) -> None:
    """A dataset for practice asks made-up rows, with every query made of it; nothing is spent, and nothing is kept."""
    with clinic.connect() as connection:
        dataset = connection.dataset("visits")
        before = dataset.budget()
        made = dataset.practice()
        for query in (made.sql(MEAN), made.mean("age").by("clinic"), made.per_unit(n="COUNT(*)").count()):
            answer = query.ask(1, request_id="tried")
            assert answer.practice
            assert str(answer).startswith(PRACTICE)
        tried = dataset.sql(MEAN).practise(1)
        assert tried.practice
        assert dataset.budget() == before
        with pytest.raises(ServerRefused):
            dataset.answer("tried")
        real = dataset.sql(MEAN).ask(1)
        assert (real.practice, real.columns) == (False, tried.columns)
