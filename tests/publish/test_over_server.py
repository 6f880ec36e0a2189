"""Reports over a server: planned, paid and continued as at hand, and paid by whoever has the key."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.cli.clinic.clinic import REPORT
from inbounds.client import RemoteDataset
from inbounds.errors import BudgetExceeded, InvalidParameter, InvalidReport
from inbounds.publish import Report, ReportFile, plan_report, run_report
from inbounds.publish.asker import RemoteAsker
from inbounds.publish.run import why_no_head
from inbounds.query import Dataset
from tests.client.conftest import Clinic, serve_clinic
from tests.helpers.served_hospital import running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """The clinic, served for all tests of this module."""
    served = serve_clinic(tmp_path_factory.mktemp("clinic"))
    with running(served) as found:
        yield Clinic(served, found)


@pytest.fixture
def visits(clinic: Clinic) -> Iterator[RemoteDataset]:
    """The clinic's visits, as ana may ask about them."""
    with clinic.connect() as connection:
        yield connection.dataset("visits")


def edition(number: int) -> ReportFile:
    """Return an edition of the clinic's report."""
    return ReportFile.parse(REPORT.replace("edition: 2026", f"edition: {number}"))


def test_a_plan_is_the_one_at_hand(clinic: Clinic, visits: RemoteDataset, tmp_path: Path) -> None:
    """What is asked together, what it costs and how far off it will be is the same at hand and over a server."""
    there = plan_report(edition(1), visits)
    with Dataset.load(clinic.contract, ledger=tmp_path / "other.db") as dataset:
        here = plan_report(edition(1), dataset, "ana")
    for name in ("epsilon", "due", "fits", "notes"):
        assert there.data()[name] == here.data()[name]
    for one, other in zip(there.data()["questions"], here.data()["questions"], strict=True):
        assert one | {"request_id": ""} == other | {"request_id": ""}
    assert there.left.own is not None


def test_a_report_is_paid_once(visits: RemoteDataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted report goes on without paying twice, and asked again it is free and equal, to the digest."""
    before = Fraction(visits.budget()["own"]["spent"])
    asked: list[str] = []
    ask = RemoteAsker.ask

    def interrupt(self: RemoteAsker, sql: str, epsilon: Fraction, request_id: str, report: object) -> object:
        found = ask(self, sql, epsilon, request_id, print)
        asked.append(request_id)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(RemoteAsker, "ask", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_report(plan_report(edition(2), visits), visits)
    later = plan_report(edition(2), visits)
    assert (later.cost, later.due) == (Fraction(3, 2), Fraction(1, 2))
    first = run_report(later, visits)
    assert Fraction(visits.budget()["own"]["spent"]) - before == Fraction(3, 2)
    plan = plan_report(edition(2), visits)
    assert (plan.due, plan.unused) == (Fraction(0), ())
    again = run_report(plan, visits)
    assert again == first
    assert again.digest == first.digest
    assert Report.read(again.data()) == again
    assert Fraction(visits.budget()["own"]["spent"]) - before == Fraction(3, 2)


def test_a_report_says_what_a_server_tells(visits: RemoteDataset) -> None:
    """Numbers agree, the analyst is whoever has the key, and what a server tells no analyst is empty, with a reason."""
    report = run_report(plan_report(edition(3), visits), visits)
    (total,) = report.table("visits").answer.rows
    for name in ("visits_by_clinic", "visits_by_month"):
        answer = report.table(name).answer
        rest = total[0] - sum(row[1] for row in answer.rows)
        assert rest >= 0
        assert f"Not in these groups: {rest:,} without a category of " in str(answer.note)
    assert (report.analyst, report.unit, report.ledger_head, report.contract) == ("ana", "patient", "", "")
    assert why_no_head(visits) == "a server tells analysts no head of its ledger; its custodian knows it"
    assert len(report.published) == 10


def test_a_changed_question_is_charged_anew(visits: RemoteDataset) -> None:
    """Another question under a name that was asked is told as such, and costs again."""
    file = ReportFile.parse("-- report: r\n-- name: ages\n-- epsilon: 0.25\nSELECT AVG(age) FROM visits")
    run_report(plan_report(file, visits), visits)
    text = "-- report: r\n-- name: ages\n-- epsilon: 0.25\nSELECT AVG(minutes) FROM visits"
    plan = plan_report(ReportFile.parse(text), visits)
    assert plan.due == Fraction(1, 4)
    assert plan.requests[0].note == "asked before at epsilon 0.25; this is another question, and costs again"
    assert len(plan.unused) == 1


def test_what_cannot_be_asked_or_paid_is_refused(visits: RemoteDataset) -> None:
    """Faults are told with their lines, and too large a cost before the first charge; nobody else can be named."""
    with pytest.raises(InvalidReport, match=r"line 4: a: .*age"):
        plan_report(ReportFile.parse("-- report: r\n-- name: a\n-- epsilon: 1\nSELECT AVG(agee) FROM visits"), visits)
    large = ReportFile.parse(REPORT.replace("total: 1.5", "total: 250"))
    plan = plan_report(large, visits)
    assert not plan.fits
    spent = visits.budget()["own"]["spent"]
    with pytest.raises(BudgetExceeded, match="it would fit without the total and with epsilon"):
        run_report(plan, visits)
    assert visits.budget()["own"]["spent"] == spent
    with pytest.raises(InvalidParameter, match="cannot be named to a server"):
        plan_report(large, visits, "bob")


def test_another_contract_needs_another_edition(clinic: Clinic, visits: RemoteDataset) -> None:
    """Where a server has another contract than when it was asked, and says so, the refusal names the way on."""
    plan = plan_report(edition(4), visits)
    request = plan.requests[0].request_id
    visits.sql("SELECT COUNT(*) FROM visits").ask("0.125", request_id=request)  # as if under another contract
    with pytest.raises(InvalidReport, match="give the report another -- edition:"):
        run_report(plan, visits)
