"""Plans: free, with what each question costs, what is paid already, and what would fit."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import InvalidParameter, InvalidReport
from inbounds.publish import ReportFile, plan_report
from inbounds.publish.shares import divide, scale_down
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.town_tables import COLUMNS, TYPES
from tests.publish.conftest import REPORT, publish, spent


def file_of(*questions: str, head: str = "") -> ReportFile:
    """Return a report of questions that count by sex, each with its cost."""
    parts = [
        f"-- name: q{i}\n-- {cost}\nSELECT sex, COUNT(*) FROM visits GROUP BY sex;" for i, cost in enumerate(questions)
    ]
    return ReportFile.parse("\n".join([f"-- report: r\n{head}", *parts]))


def test_a_plan_is_free_and_creates_nothing(tmp_path: Path) -> None:
    """Planning spends nothing, reads no row and makes no ledger; what is left is what the contract gives."""
    text = contract(COLUMNS, unit="row", budget="total = 10\nper_analyst = 8")
    with Playground(text, TYPES, tmp_path / "ledger.db") as towns:
        plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
        assert plan.cost == plan.due == Fraction(5, 4)
        assert (plan.left.total, plan.left.own, plan.fits) == (Fraction(10), Fraction(8), True)
        assert "10 left, 8.75 afterwards" in str(plan)
        assert "8 left, 6.75 afterwards" in str(plan)
        assert list(tmp_path.iterdir()) == []
        assert not plan_report(ReportFile.parse(REPORT.replace("0.25", "7.5")), towns.dataset, "office").fits


def test_a_total_is_divided_by_weight() -> None:
    """What epsilons and wanted errors leave of a total is divided by weight, and never more than that."""
    file = file_of("epsilon: 0.5", "error: 20", "weight: 2", "weight: 1", head="-- total: 2")
    costs = divide(file, {"q1": Fraction(1, 2)})
    assert costs == {"q0": Fraction(1, 2), "q1": Fraction(1, 2), "q2": Fraction("0.6666"), "q3": Fraction("0.3333")}
    assert sum(divide(file, {"q1": Fraction(1, 2)}, free=["q3"]).values()) == 2
    small = replace(file, total=Fraction(1) + Fraction(3, 10**6))
    assert divide(small, {"q1": Fraction(1, 2)})["q3"] == Fraction(1, 10**6)


def test_a_total_that_does_not_reach_is_refused_with_one_that_does() -> None:
    """If wanted errors take all of a total, the refusal says how much they take, and more than that is enough."""
    file = file_of("error: 20", "weight: 1", head="-- total: 2")
    with pytest.raises(InvalidParameter, match=r"take 2, and nothing is left for q1; write a total above 2"):
        divide(file, {"q0": Fraction(2)})
    assert divide(replace(file, total=Fraction("2.5")), {"q0": Fraction(2)})["q1"] == Fraction(1, 2)
    without = file_of("error: 20", head="-- total: 2")
    assert divide(without, {"q0": Fraction(2)}) == {"q0": 2}
    with pytest.raises(InvalidParameter, match="write a total of 3"):
        divide(without, {"q0": Fraction(3)})


def test_costs_are_scaled_down_to_what_is_left() -> None:
    """Scaled costs keep their proportion and fit; where they would be nothing, there are none."""
    scaled = scale_down({"a": Fraction(1), "b": Fraction(2)}, Fraction(1, 7))
    assert scaled is not None
    assert sum(scaled.values()) <= Fraction(1, 7)
    assert scaled["b"] == pytest.approx(2 * float(scaled["a"]), abs=1e-4)
    assert scale_down({"a": Fraction(1), "b": Fraction(1, 10**12)}, Fraction(1, 10**12)) is None


@pytest.mark.usefixtures("wanted_errors")
def test_a_wanted_error_costs_what_it_takes(towns: Playground) -> None:
    """A question with a wanted error is asked at the least epsilon for it, and the plan says that it is met."""
    plan = plan_report(file_of("error: 3", head="-- consistent: no"), towns.dataset, "office")
    ((question, _),) = plan.questions
    assert question.error is not None
    assert question.error <= 3
    assert "wanted at most 3" in str(plan)


@pytest.mark.slow
@pytest.mark.usefixtures("wanted_errors")
def test_a_wanted_error_is_never_given_up_for_agreement(towns: Playground) -> None:
    """A question that would be less accurate than wanted beside others is asked apart, and the plan says so."""
    text = """
-- report: r
-- name: people
-- error: 2
SELECT COUNT(*) FROM visits;
-- name: streets
-- epsilon: 0.01
SELECT street, sex, COUNT(*) FROM visits GROUP BY street, sex;
-- name: sexes
-- epsilon: 3
SELECT sex, COUNT(*) FROM visits GROUP BY sex;
"""
    plan = plan_report(ReportFile.parse(text), towns.dataset, "office")
    errors = {question.name: question.error for question, _ in plan.questions}
    assert errors["people"] is not None
    assert errors["people"] <= 2
    assert [request.together.names for request in plan.requests] == [("people", "sexes"), ("streets",)]
    assert plan.notes == (
        "streets is asked apart from people, sexes, and their numbers need not agree: together, people's expected "
        f"error would be {re.search('would be (.*?),', plan.notes[0])[1]}, above the wanted one",  # type: ignore[index]
    )


def test_questions_about_the_same_counts_are_asked_together(towns: Playground) -> None:
    """A plan says what is asked together and what it costs; `consistent: no` turns it off."""
    plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
    assert [request.together.names for request in plan.requests] == [("people", "by_sex"), ("costs",)]
    assert "people, by_sex are released together, for ε = 1: their numbers agree" in " ".join(str(plan).split())
    apart = plan_report(ReportFile.parse(REPORT.replace("edition: 1", "consistent: no")), towns.dataset, "office")
    assert [request.together.names for request in apart.requests] == [("people",), ("by_sex",), ("costs",)]
    assert apart.cost == plan.cost


def test_what_is_public_is_free(towns: Playground) -> None:
    """A public question costs nothing, has no share of a total, and is asked together with no other."""
    text = """
-- report: r
-- total: 1
-- name: sexes
SELECT DISTINCT sex FROM visits;
-- name: people
SELECT COUNT(*) FROM visits;
"""
    plan = plan_report(ReportFile.parse(text), towns.dataset, "office")
    assert [request.epsilon for request in plan.requests] == [0, 1]
    report = publish(towns.dataset, text)
    assert (report.epsilon, report.table("sexes").epsilon, spent(towns.dataset)) == (
        Fraction(1),
        Fraction(0),
        Fraction(1),
    )
    assert report.table("sexes").answer.rows == (("f",), ("m",))


def test_all_that_cannot_be_asked_is_told_at_once(towns: Playground) -> None:
    """Questions that a dataset refuses, or that would tell nothing, are named with their lines and remedies."""
    text = """
-- report: r
-- name: a
-- epsilon: 1
SELECT COUNT(*) FROM visit;
-- name: b
-- epsilon: 1
SELECT AVG(sise) FROM visits;
-- name: c
-- epsilon: 1
SELECT COUNT(*) FROM visits
"""
    with pytest.raises(InvalidReport) as refused:
        plan_report(ReportFile.parse(text), towns.dataset, "office")
    assert [fault.partition(": ")[0] for fault in refused.value.faults] == ["line 5", "line 8"]
    assert "did you mean size?" in refused.value.faults[1]
    nothing = "-- report: r\n-- name: a\n-- epsilon: 0.5\nSELECT COUNT(*) FROM visits WHERE sex = 'f' AND sex = 'm'"
    with pytest.raises(InvalidReport, match="line 4: a: "):
        plan_report(ReportFile.parse(nothing), towns.dataset, "office")


def test_what_would_fit_fits(towns: Playground) -> None:
    """The epsilons that a refusal offers, written into the report, fit what is left, and keep what is paid already."""
    text = REPORT.replace("0.25", "7.5")
    plan = plan_report(ReportFile.parse(text), towns.dataset, "office")
    assert plan.remedy is not None
    assert "ask the custodian to grant more" in plan.remedy
    for amount, name in re.findall(r"([\d.]+) for (\w+)", plan.remedy):
        text = re.sub(rf"(-- name: {name}\n-- epsilon: )[\d.]+", rf"\g<1>{amount}", text)
    fitting = plan_report(ReportFile.parse(text), towns.dataset, "office")
    assert fitting.fits
    assert fitting.cost == pytest.approx(8, rel=0.01)
    publish(towns.dataset, text)
    assert not plan_report(ReportFile.parse(REPORT.replace("edition: 1", "edition: 2")), towns.dataset, "office").fits


@pytest.mark.parametrize("analyst", [None])
def test_somebody_has_to_pay(towns: Playground, analyst: str | None) -> None:
    """A dataset at hand is asked in a name."""
    with pytest.raises(InvalidParameter, match="a report needs an analyst"):
        plan_report(ReportFile.parse(REPORT), towns.dataset, analyst)


@pytest.mark.slow
def test_a_budget_with_a_delta_is_checked_in_rho(tmp_path: Path) -> None:
    """With a delta a report fits if its rho does, though its epsilon is beyond the total."""
    text = contract(COLUMNS, unit="row", budget="total = 1\ndelta = 1e-6")
    many = "\n".join(
        [
            "-- report: r",
            *(f"-- name: q{i}\n-- epsilon: 0.05\nSELECT AVG(cost) FROM visits WHERE size > {i - 3};" for i in range(8)),
        ]
    )
    with Playground(text, TYPES, tmp_path / "ledger.db") as towns:
        towns.fill([])
        for epsilon, fits in (("0.05", True), ("0.15", False)):
            file = ReportFile.parse(many.replace("0.05", epsilon))
            assert plan_report(file, towns.dataset, "office").fits == fits
        publish(towns.dataset, many)
        assert spent(towns.dataset) == Fraction(8, 20)
        assert plan_report(ReportFile.parse(many), towns.dataset, "office").fits
