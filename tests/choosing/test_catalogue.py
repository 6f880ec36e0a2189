"""The catalogue has every mechanism, and everything else takes them from it."""

from __future__ import annotations

from typing import ClassVar

import pytest

from inbounds import BoundedLaplace, Bounds, Mechanism, Optimal, compare, plot, published, recommend
from inbounds.choosing import catalogue, trials
from inbounds.choosing.catalogue import CATALOGUE, CatalogueEntry
from inbounds.published import Geometric
from tests.helpers.programs import ROOT

DOCS = ROOT / "docs"


def test_every_mechanism_is_in_the_catalogue() -> None:
    """What is exported as a published mechanism has one entry, and so have the library's own and the optimum."""
    kinds = [entry.kind for entry in CATALOGUE]
    assert len(set(kinds)) == len(kinds)
    assert set(kinds) == {BoundedLaplace, Optimal, *(getattr(published, name) for name in published.__all__)}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.kind.__name__)
def test_every_mechanism_is_documented(entry: CatalogueEntry) -> None:
    """The page on published mechanisms, or that on choosing, names each class."""
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in ("published.md", "choosing.md"))
    assert entry.kind.__name__ in text
    assert entry.kind.paper
    assert set(entry.drawn) <= set(entry.variants)


class Coin(Geometric):
    """Another mechanism, with the law of one that there is."""

    title: ClassVar[str] = "coin"
    paper: ClassVar[str] = "nobody 2026"


@pytest.mark.slow
def test_one_line_adds_a_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new entry is compared, considered and drawn, and nothing else had to change."""
    added = (CatalogueEntry(Coin, {"snapped {}": {"ends": "snap"}}, drawn=("snapped {}",)), *CATALOGUE)
    monkeypatch.setattr(catalogue, "CATALOGUE", added)
    monkeypatch.setattr(trials, "CATALOGUE", added)
    bounds = Bounds(0, 20, step=1)
    row = compare(bounds, 1, 1, optimum=False)["snapped coin"]
    assert (row.paper, type(row.mechanism)) == ("nobody 2026", Coin)
    assert "snapped coin" in dict(recommend(bounds, 1, 1, optimum=False).considered)
    figure = plot.against_epsilon(bounds, 1, [1, 2])
    assert "snapped coin" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_only_what_keeps_epsilon_is_considered() -> None:
    """What may be recommended keeps epsilon without a delta wherever it can be made, and the rest never is."""
    bounds = Bounds(0, 20, step=1)
    never = {entry.name_of(pattern) for entry in CATALOGUE if not entry.kind.pure for pattern in entry.variants}
    found = compare(bounds, 1, 1, optimum=False)
    assert all(row.label is None or row.label.pure for row in found if row.name not in never)
    assert not never & {name for name, _ in recommend(bounds, 1, 1, optimum=False).considered}


def test_mechanisms_are_of_one_type() -> None:
    """Everything in the catalogue is a `Mechanism`."""
    assert all(issubclass(entry.kind, Mechanism) for entry in CATALOGUE)
