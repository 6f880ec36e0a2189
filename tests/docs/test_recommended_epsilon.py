"""What epsilon is recommended stands in one place; everything else says the same, or leads there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inbounds import BoundedLaplace, Bounds, InvalidParameter
from inbounds.privacy.claim import RECOMMENDED_EACH, RECOMMENDED_TOTAL
from inbounds.query.custodian.draft import Draft
from inbounds.query.custodian.schema import Schema
from tests.helpers.programs import ROOT

PAGE = ROOT / "docs" / "parameters.md"
ADVICE = re.compile(
    r"(?:ε|epsilon)s?[^.\n|]{0,30}\b(?:from )?[\d.]+ to [\d.]+[^.\n|]{0,20}(?:usual|common|recommend)", re.I
)


def test_one_page_recommends() -> None:
    """The page about parameters recommends an epsilon, and no other page a range of its own."""
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"an ε of {RECOMMENDED_TOTAL} for everything that will ever be released about one person" in text
    assert f"and {RECOMMENDED_EACH} for each release or question" in text
    others = [path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if path.parent.name != "decisions"]
    assert [path.name for path in others if ADVICE.search(path.read_text("utf-8"))] == []
    assert ADVICE.search("ε from 1 to 10 is usual; [what it means](parameters.md)")


def test_a_first_contract_leads_there() -> None:
    """Whoever decides on a budget is sent to the recommendation."""
    text = (ROOT / "docs" / "first-contract.md").read_text("utf-8")
    (row,) = re.findall(r"^\| how much may be spent .*$", text, re.MULTILINE)
    assert "(parameters.md#epsilon-what-it-may-cost)" in row


def test_refusals_and_drafts_say_the_same(tmp_path: Path) -> None:
    """A refused epsilon and the draft of a contract have the figures of the page."""
    with pytest.raises(InvalidParameter, match=f"recommended is {RECOMMENDED_EACH} for a release"):
        BoundedLaplace(Bounds(0, 1), 1, 0)
    (tmp_path / "visits.csv").write_text("patient,age\n", encoding="utf-8")
    draft = str(Draft(Schema.read(str(tmp_path / "visits.csv"))))
    assert f"recommended: {RECOMMENDED_TOTAL}" in " ".join(draft.replace("#", "").split())
