"""On many spans a recommendation looks at a sample of true answers, says so, and is nearly as good."""

from __future__ import annotations

from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from inbounds import BoundedLaplace, Bounds, certify, recommend
from inbounds.choosing import objective
from inbounds.choosing.objective import FEW_SPANS, Objective, objectives
from inbounds.limit.goal import Minimise
from inbounds.privacy.claim import Promise
from inbounds.published import Laplace

TEETH = Bounds.union([(7 * i, 7 * i + 2 + i % 3) for i in range(60)], step=1)
COMB = Bounds.union([(3 * i, 3 * i + 1 + (i % 3) / 2) for i in range(20)])
UNEVEN = Bounds.union([(3 * i, 3 * i + 0.5) for i in range(30)] + [(200, 1000)])


def promised(bounds: Bounds) -> Promise:
    """Return a promise over some bounds."""
    return Promise.of(bounds, 5, 0.5, "standard", 0, False)


def test_few_spans_are_looked_at_whole() -> None:
    """Up to so many spans the objective is over all true answers, and a recommendation says nothing of a sample."""
    few = Bounds.union([(3 * i, 3 * i + 1) for i in range(FEW_SPANS)], step=1)
    assert {one.sample for one in objectives(promised(few), "mean", None)} == {None}
    found = recommend(few, 5, 0.5, optimum=False)
    assert found.sample is None
    assert "spread evenly" not in found.reason


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [TEETH, COMB, UNEVEN])
@pytest.mark.parametrize("goal", ["mean", "worst"])
def test_a_sample_is_of_possible_answers_and_near_the_whole(bounds: Bounds, goal: Minimise) -> None:
    """A sample's answers are possible, its weights add up, and its error is near that over all true answers."""
    made = BoundedLaplace(bounds, 5, 0.5)
    exact = Objective(goal, None)
    for one, near in zip(objectives(promised(bounds), goal, None), (0.06, 0.02), strict=True):
        if one.sample is not None:
            assert all(answer in bounds for answer in one.sample)
            assert len(one.sample) == len(one.weights) > objective.ROUGH_SPANS
        assert one.of(made) == pytest.approx(exact.of(made), rel=near)
        assert goal == "mean" or one.of(made) <= exact.of(made) * (1 + 1e-9)


def test_a_sample_stays_in_the_window() -> None:
    """Only true answers in the window are looked at; a window of few spans is looked at whole."""
    rough, _ = objectives(promised(TEETH), "mean", (70, 350))
    assert rough.sample is not None
    assert all(70 <= answer <= 350 for answer in rough.sample)
    assert objectives(promised(TEETH), "mean", (70, 90))[0].sample is None


@pytest.mark.slow
def test_a_sampled_recommendation_is_private_and_nearly_the_best() -> None:
    """Privacy is proved whatever the sample; what is chosen is no worse than what needs no search, to 1 %."""
    quick = recommend(COMB, 5, 0.5)
    assert quick.sample
    assert f"at {quick.sample} true answers spread evenly, {quick.error:.4g}, of " in quick.reason
    assert certify(quick.mechanism).holds
    assert quick.mechanism.label.pure
    for other in (BoundedLaplace(COMB, 5, 0.5), Laplace(COMB, 5, 0.5, ends="snap"), Laplace(COMB, 5, 0.5, ends="fold")):
        assert quick.mechanism.mean_error() <= other.mean_error() * 1.01


def test_a_sample_of_days_is_of_days() -> None:
    """On dates true answers are dates."""
    weekdays = Bounds.dates("2026-01-01", "2026-06-30", weekdays="Mon-Fri")
    found = recommend(weekdays, timedelta(days=7), 0.5)
    assert certify(found.mechanism).holds


def test_a_recommendation_and_its_certificate_are_shown_in_notebooks() -> None:
    """HTML holds the name, the privacy and the reason; a certificate what was found, and no less than the loss."""
    found = recommend(Bounds(0, 20, step=1), 1, 1)
    texts = [element.text or "" for element in ET.fromstring(found._repr_html_()).iter()]
    assert {found.name, str(found.mechanism.label), found.reason} <= set(texts)
    certificate = found.mechanism.certificate
    assert certificate.finding in [element.text for element in ET.fromstring(certificate._repr_html_()).iter()]
