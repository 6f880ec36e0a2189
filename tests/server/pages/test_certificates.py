"""Certificates go from the page of plans to the auditor, who has them checked."""

from __future__ import annotations

import json

import pytest

from tests.helpers.page_visitor import visit
from tests.helpers.served_hospital import Served

PLAN = "/plan/certificate.json?bounds=[0,100]&sensitivity=2&epsilon=0.5"


def test_a_certificate_that_anyone_gets_is_checked_by_an_auditor(hospital: Served) -> None:
    """What the page of plans gives away holds; with a smaller epsilon it is refuted or cannot be told."""
    file = visit(hospital).get(PLAN)
    assert file.headers["content-disposition"] == 'attachment; filename="certificate.json"'
    dora = visit(hospital, "dora")
    assert "Holds: no neighbours lose more than" in dora.post("/verify/certificate", certificate=file.text).text
    document = json.loads(file.text)
    document["claim"]["epsilon"] = "1/3"
    found = dora.post("/verify/certificate", certificate=json.dumps(document)).text
    assert "Holds:" not in found
    assert "Refuted:" in found or "Cannot tell:" in found


@pytest.mark.parametrize("text", ["", "{", "<script>alert(1)</script>", "[" * 20_000, '{"a": 1e999999999}'])
def test_nonsense_is_no_certificate(hospital: Served, text: str) -> None:
    """Of what is none, nothing can be told, and it stands on the page as text."""
    found = visit(hospital, "dora").post("/verify/certificate", certificate=text)
    assert found.status_code == 200
    assert "Cannot tell:" in found.text
    assert "<script>alert" not in found.text
