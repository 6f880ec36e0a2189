"""Bars of budgets show what is spent: they are empty at first, and full when nothing is left."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.helpers.page_visitor import Visit, visit
from tests.helpers.served_hospital import COUNT, Served, build

BAR = re.compile(
    r"<label>(?P<who>[^:]+): ε (?P<said>\S+) of (?P<of>\S+) used, <strong>(?P<left>\S+) left</strong>\s*"
    r'<meter min="0" max="(?P<most>[^"]+)" low="[^"]+" high="[^"]+" optimum="0" value="(?P<value>[^"]+)">'
    r"(?P<read>[^<]+)</meter>"
)
PAGES = {"ana": ("/ask", "/ask/visits"), "carla": ("/keep",)}


def bars(who: Visit, path: str) -> dict[str, Fraction]:
    """Return how full the first bars of a page are, by whose they are; bar, words and what is read aloud agree."""
    filled: dict[str, Fraction] = {}
    for found in BAR.finditer(who.get(path).text):
        spent, most = Fraction(found["value"]), Fraction(found["most"])
        assert (found["said"], found["of"]) == (found["value"], found["most"])
        assert found["read"] == f"{found['value']} of {found['most']} used"
        assert Fraction(found["left"]) == most - spent
        filled.setdefault(found["who"].strip(), spent / most)
    return filled


@pytest.mark.slow
def test_a_bar_fills_up(tmp_path: Path) -> None:
    """Before anything is asked a bar is empty; then it is as full as what was spent; at the end it is full."""
    served: Served = build(tmp_path / "hospital", total="4", per_analyst="2")
    try:
        people = {name: visit(served, name) for name in PAGES}
        for spent in (Fraction(0), Fraction(1, 2), Fraction(2)):
            due = {Fraction(0): None, Fraction(1, 2): "0.5", Fraction(2): "1.5"}[spent]
            if due is not None:
                assert people["ana"].post("/ask/visits", sql=COUNT, epsilon=due, key=f"at-{due}").status_code == 303
            for path in PAGES["ana"]:
                assert bars(people["ana"], path) == {"Your budget": spent / 2, "All analysts": spent / 4}
            for path in PAGES["carla"]:
                assert bars(people["carla"], path)["All analysts"] == spent / 4
    finally:
        served.close()
