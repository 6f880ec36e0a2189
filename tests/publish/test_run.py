"""Publishing: paid once, whatever interrupts it and however often it is repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.clinic.clinic import REPORT as CLINIC_REPORT
from inbounds.cli.clinic.clinic import build
from inbounds.errors import BudgetExceeded
from inbounds.ledger import Ledger
from inbounds.publish import Report, ReportFile, plan_report, run_report
from inbounds.publish import run as running
from inbounds.query import Dataset
from inbounds.query.engines.duckdb import DuckDB
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.programs import PATIENCE
from tests.helpers.sparing import sparing
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES
from tests.publish.conftest import REPORT, publish, spent

COST = Fraction(5, 4)


def test_a_report_holds_what_was_released(towns: Playground) -> None:
    """Each table has its question and answer; the report has its cost, whose it is, and its place in the ledger."""
    report = publish(towns.dataset)
    assert [table.name for table in report.tables] == ["people", "by_sex", "costs"]
    assert report.table("by_sex").sql == "SELECT sex, COUNT(*) AS people FROM visits GROUP BY sex ORDER BY people DESC"
    assert report.table("by_sex").answer.columns == ("sex", "people")
    assert (report.epsilon, spent(towns.dataset)) == (COST, COST)
    assert (report.dataset, report.unit, report.analyst, report.edition) == ("visits", "row", "office", "1")
    terms = towns.dataset.recorded_terms()
    assert terms is not None
    assert report.contract == terms.digest
    assert report.ledger_head == str(towns.dataset.ledger.head())
    assert report.published == towns.dataset.ledger.statement().entries[-1].time[:10]
    assert Report.read(report.data()) == report


def test_running_again_is_free_and_equal(towns: Playground) -> None:
    """Whoever asked what in between, a report is the same to the digest, without a charge or a look at rows."""
    first = publish(towns.dataset)
    towns.dataset.sql("SELECT sex, COUNT(*) FROM visits GROUP BY sex").ask(1, analyst="office")
    towns.fill([])
    plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
    assert (plan.due, plan.cost) == (Fraction(0), COST)
    assert str(plan).count("; paid") == 3
    again = run_report(plan, towns.dataset)
    assert again == first
    assert again.digest == first.digest
    assert spent(towns.dataset) == COST + 1


def test_a_changed_question_is_charged_anew(towns: Playground) -> None:
    """Another question, epsilon, analyst or edition is paid for; the plan says so, and what is no part any more."""
    publish(towns.dataset)
    changed = {
        ("AVG(cost)", "AVG(size)"): "asked before at epsilon 0.25; this is another question, and costs again",
        ("0.25", "0.125"): "asked before at epsilon 0.25; at another epsilon it costs again",
    }
    for (old, new), said in changed.items():
        plan = plan_report(ReportFile.parse(REPORT.replace(old, new)), towns.dataset, "office")
        (note,) = [request.note for request in plan.requests if request.note]
        assert note == said
        assert plan.due == plan.requests[-1].epsilon
        assert [paid.epsilon for paid in plan.unused] == [Fraction(1, 4)]
        assert "no part of this report any more" in str(plan)
    for text, analyst in ((REPORT.replace("edition: 1", "edition: 2"), "office"), (REPORT, "ana")):
        plan = plan_report(ReportFile.parse(text), towns.dataset, analyst)
        assert (plan.due, plan.unused) == (COST, ())
        assert not any(request.note for request in plan.requests)


def test_what_is_added_leaves_what_is_paid(towns: Playground) -> None:
    """Questions that are added behind paid ones are charged alone, and the plan says that they need not agree."""
    first = publish(towns.dataset)
    added = "{};\n-- name: {}\n-- epsilon: 0.5\nSELECT {}, COUNT(*) AS people FROM visits GROUP BY {}"
    text = added.format(
        added.format(REPORT.rstrip().rstrip(";"), "by_region", *["region"] * 2), "by_size", *["size"] * 2
    )
    plan = plan_report(ReportFile.parse(text), towns.dataset, "office")
    assert (plan.due, plan.unused) == (Fraction(1), ())
    assert plan.notes == (
        "by_region, by_size are asked apart from people, by_sex, which are paid already, and their numbers need not "
        "agree; under another -- edition: all of them are asked anew, together",
    )
    report = run_report(plan, towns.dataset)
    assert [report.table(table.name).answer for table in first.tables] == [table.answer for table in first.tables]
    assert report.table("by_region").answer.request_id == report.table("by_size").answer.request_id
    assert plan_report(ReportFile.parse(text), towns.dataset, "office").due == 0
    assert publish(towns.dataset) == first
    assert spent(towns.dataset) == COST + 1


def test_what_is_shown_may_change_for_free(towns: Playground) -> None:
    """Titles, names of columns, order and spelling are no other question, and cost nothing."""
    first = publish(towns.dataset)
    text = REPORT.replace("ORDER BY people DESC", "HAVING people > 3").replace(
        "sex, AVG(cost) AS cost", "AVG(cost), sex"
    )
    again = publish(towns.dataset, text.replace("-- edition: 1", "-- edition: 1\n-- title: Another"))
    assert spent(towns.dataset) == COST
    assert again.title == "Another"
    assert dict(again.table("by_sex").answer.rows) == dict(first.table("by_sex").answer.rows)


def test_editions_are_kept_apart(towns: Playground) -> None:
    """Each edition is asked and paid by itself, and stays as it was."""
    first = publish(towns.dataset)
    second = publish(towns.dataset, REPORT.replace("edition: 1", "edition: 2"))
    assert spent(towns.dataset) == 2 * COST
    ids = [{table.answer.request_id for table in report.tables} for report in (first, second)]
    assert not ids[0] & ids[1]
    assert publish(towns.dataset) == first


def test_another_contract_is_asked_anew(towns: Playground, tmp_path: Path) -> None:
    """Under a changed contract answers are others: the plan says that they cost again, and not why in the dark."""
    publish(towns.dataset)
    text = f"# changed\n{towns.dataset.contract.text}"
    with Dataset.parse(text, ledger=tmp_path / "b.db") as other:
        other.__dict__["engine"] = towns.dataset.engine
        plan = plan_report(ReportFile.parse(REPORT), other, "office")
        assert plan.due == COST
        assert {request.note for request in plan.requests} == {
            "asked together before at epsilon 1, under another contract; under this one it costs again",
            "asked before at epsilon 0.25, under another contract; under this one it costs again",
        }
        other.__dict__.pop("engine")


def test_too_little_budget_is_refused_before_the_first_charge(towns: Playground) -> None:
    """If the budget is not enough for all of it, nothing is charged; also if it was spent after the plan was made."""
    plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
    towns.dataset.sql("SELECT AVG(cost) FROM visits").ask("7.5", analyst="office")
    before = len(towns.dataset.ledger.statement().entries)
    with pytest.raises(
        BudgetExceeded, match=r"still costs 1.25, but the dataset has 2.5 left and 'office' has 0.5"
    ) as it:
        run_report(plan, towns.dataset)
    assert (it.value.requested, it.value.left_total, it.value.left_analyst) == (COST, Fraction(5, 2), Fraction(1, 2))
    assert len(towns.dataset.ledger.statement().entries) == before


def test_progress_tells_each_question(towns: Playground) -> None:
    """Whoever waits is told which question of how many is asked."""
    told: list[str] = []
    plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
    run_report(plan, towns.dataset, told.append)
    assert [text for text in told if ":" not in text] == ["1 of 2, people", "1 of 2, by_sex", "2 of 2, costs"]
    assert "2 of 2, costs: running the statement" in told


def test_what_needs_several_intervals_at_once_is_asked_first(towns: Playground) -> None:
    """A share has its interval though the same counts are also published plainly, and before it in the file."""
    share = "ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS share"
    text = f"{REPORT};\n-- name: shares\n-- epsilon: 0.5\nSELECT sex, {share} FROM visits GROUP BY sex"
    report = publish(towns.dataset, text)
    assert report.table("shares").answer.request_id == report.table("people").answer.request_id
    assert all(ends is not None for (ends,) in report.table("shares").answer.intervals)


# Interrupted.


class Interruption:
    """Raises at the seam of a number: before and after each charge, statement and kept answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail: Callable[[], None]) -> None:
        self.left = -1
        self._fail = fail
        for owner, name in ((Ledger, "charge"), (Ledger, "answered"), (DuckDB, "run"), (running, "_ask")):
            self._cut(monkeypatch, owner, name)

    def _cut(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        whole = getattr(owner, name)

        def cut(*given: Any, **named: Any) -> Any:
            self.pass_seam()
            found = whole(*given, **named)
            self.pass_seam()
            return found

        monkeypatch.setattr(owner, name, cut)

    def pass_seam(self) -> None:
        """Count a seam, and fail at the last one."""
        self.left -= 1
        if self.left == 0:
            self._fail()


def interrupt() -> None:
    """Interrupt, as Ctrl-C does."""
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("seam", range(1, 23))
def test_an_interrupted_report_goes_on_without_paying_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seam: int
) -> None:
    """Wherever it is interrupted, what was kept stays as it is, and the next run pays for the rest and nothing else."""
    text = contract(COLUMNS, unit="row", budget="total = 1.25")
    cut = Interruption(monkeypatch, interrupt)
    with Playground(text, TYPES, tmp_path / "ledger.db") as towns:
        towns.fill(ROWS)
        plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
        cut.left = seam
        with pytest.raises(KeyboardInterrupt):
            run_report(plan, towns.dataset)
        kept = {
            entry.request_id: entry.text for entry in towns.dataset.ledger.statement().entries if entry.kind == "answer"
        }
        charged = [entry for entry in towns.dataset.ledger.statement().entries if entry.kind == "charge"]
        later = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
        assert later.cost == COST
        assert later.cost - later.due == spent(towns.dataset) == sum(Fraction(e.amount, 10**12) for e in charged)
        assert later.fits
        report = run_report(later, towns.dataset)
        entries = towns.dataset.ledger.statement().entries
        assert spent(towns.dataset) == COST
        assert len([entry for entry in entries if entry.kind == "charge"]) == 2
        now = {entry.request_id: entry.text for entry in entries if entry.kind == "answer"}
        assert kept.items() <= now.items()
        assert publish(towns.dataset) == report


def test_there_are_no_more_seams(towns: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty-two seams are all that there are: a report that is to be interrupted later comes to its end."""
    cut = Interruption(monkeypatch, interrupt)
    plan = plan_report(ReportFile.parse(REPORT), towns.dataset, "office")
    cut.left = 100
    run_report(plan, towns.dataset)
    assert 100 - cut.left == 22


KILLED = """
import os, sys, pytest
from inbounds.publish import ReportFile, plan_report, run_report
from inbounds.query import Dataset
from tests.publish.test_run import Interruption
with Dataset.load(sys.argv[1]) as dataset, pytest.MonkeyPatch.context() as patch:
    plan = plan_report(ReportFile.load(sys.argv[2]), dataset, "office")
    Interruption(patch, lambda: os.kill(os.getpid(), 9)).left = int(sys.argv[3])
    run_report(plan, dataset)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seam", sparing((4, 9, 2, 3, 5, 6, 7, 8, 10, 11), 1))
def test_a_killed_process_pays_once(tmp_path: Path, seam: int) -> None:
    """Killed at once, with nothing put in order, a process leaves a ledger from which the next one goes on."""
    place = build(tmp_path)
    (tmp_path / "report.sql").write_text(CLINIC_REPORT, "utf-8")
    words = [sys.executable, "-c", KILLED, str(place), str(tmp_path / "report.sql"), str(seam)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(words, env=environment, timeout=PATIENCE, check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr
    with Dataset.load(place) as dataset:
        report = publish(dataset, CLINIC_REPORT)
        assert report.epsilon == spent(dataset) == Fraction(3, 2)
        assert dataset.ledger.verify().ok


def test_a_plan_of_another_analyst_is_not_run_in_a_wrong_name(towns: Playground) -> None:
    """A plan is run in the name that it was made for, and its request ids are nobody else's."""
    ours, theirs = (plan_report(ReportFile.parse(REPORT), towns.dataset, name) for name in ("office", "ana"))
    assert {request.request_id for request in ours.requests}.isdisjoint(
        request.request_id for request in theirs.requests
    )
    assert run_report(theirs, towns.dataset).analyst == "ana"
    assert towns.dataset.ledger.balance("visits", "office").spent == 0
    assert replace(ours, analyst="ana") != theirs
