"""A wanted error over the network: the same epsilon as at hand."""

from __future__ import annotations

import pytest

import inbounds.query
from inbounds.errors import InvalidParameter
from tests.client.conftest import Clinic

COUNT = "SELECT COUNT(*) FROM visits WHERE age > 60"
MEAN = "SELECT AVG(age) FROM visits"


@pytest.mark.slow
def test_the_server_finds_the_epsilon_that_is_found_at_hand(clinic: Clinic) -> None:
    """A remote query has the same least epsilon, and its refusals are those of one at hand."""
    with clinic.connect() as connection, inbounds.query.Dataset.load(clinic.contract, create_ledger=False) as dataset:
        remote = connection.dataset("visits")
        for sql, error, rows in ((COUNT, 20, None), (COUNT, "2 %", 1000), (MEAN, "2 %", 1000), (MEAN, 0.5, 300)):
            found, near = (one.sql(sql).find_epsilon(error, rows=rows) for one in (remote, dataset))
            assert found == near
            assert remote.sql(sql).epsilon_for(error, rows=rows) == near.epsilon
        for refused in (remote.sql(MEAN), dataset.sql(MEAN)):
            with pytest.raises(InvalidParameter, match="say how many rows to assume"):
                refused.epsilon_for("2 %")
