"""A preview with a wanted error in place of epsilon."""

from __future__ import annotations

from tests.helpers.served_hospital import Served

COUNT = "SELECT COUNT(*) FROM visits WHERE age > 60"


def test_explain_takes_an_error_or_an_epsilon(served: Served) -> None:
    """With an error it returns the epsilon that was found; both, or none, are refused."""
    ana, path = served.person("ana"), "/v1/datasets/visits/explain"
    found = ana.post(path, json={"sql": COUNT, "error": "20"}).json()
    again = ana.post(path, json={"sql": COUNT, "epsilon": found["epsilon"]}).json()
    assert f"ε = {found['epsilon']} is the least for an error of 20" in found.pop("wanted")
    assert again.pop("wanted") is None
    assert found == again
    for body in ({}, {"error": 20, "epsilon": 1}, {"error": 20, "rows": 0}, {"error": True}, {"error": [20]}):
        assert ana.post(path, json={"sql": COUNT, **body}).status_code == 400
    assert ana.post("/v1/datasets/visits/answers", json={"sql": COUNT, "error": "20"}).status_code == 400
