"""Reports and links over a connection: what the server has, as values, and refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest

from inbounds import errors
from inbounds.client import Connection, waiting
from inbounds.publish.destinations import verify, write
from inbounds.query import Answer
from inbounds.report import Report
from inbounds.report.report import digest_of
from tests.client.conftest import Clinic
from tests.helpers.cut_connections import Cut, Cutter

pytestmark = pytest.mark.slow

BY_CLINIC = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
TABLES: list[dict[str, Any]] = [
    {"name": "by_clinic", "title": "By clinic", "sql": BY_CLINIC, "epsilon": 0.5, "chart": "bars"},
    {"name": "ages", "title": "Ages", "sql": "SELECT AVG(age) FROM visits", "epsilon": Fraction(1, 4)},
]
FILE = """
-- report: {name}
-- title: A year
-- total: 1
-- name: visits
-- epsilon: 0.25
SELECT COUNT(*) AS visits FROM visits;
-- name: by_clinic
SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic;
"""


@pytest.fixture
def everybody(clinic: Clinic) -> Iterator[dict[str, Connection]]:
    """Connections of everybody."""
    found = {name: clinic.connect(name) for name in clinic.served.keys}
    yield found
    for connection in found.values():
        connection.close()


def spent(ana: Connection) -> Fraction:
    """Return what an analyst has spent."""
    return Fraction(ana.dataset("visits").budget()["own"]["spent"])


def refused(code: str, call: Any) -> str:
    """Return what a refusal of this code says."""
    with pytest.raises(errors.ServerRefused) as found:
        call()
    assert found.value.code == code
    return str(found.value)


def test_a_report_goes_from_its_proposal_to_its_readers(everybody: dict[str, Connection], tmp_path: Path) -> None:
    """It is proposed for free, paid by its analyst when it is approved, and read by everybody as one value."""
    ana, carla, rita = (everybody[name] for name in ("ana", "carla", "rita"))
    before = spent(ana)
    made = ana.propose_report("visits", "year", "A year", TABLES, description="All of it.", edition="first")
    assert (made.state, made.analyst, made.epsilon, made.edition) == ("proposed", "ana", Fraction(3, 4), "first")
    assert [(one.name, one.epsilon) for one in made.questions] == [
        ("by_clinic", Fraction(1, 2)), ("ages", Fraction(1, 4)),
    ]  # fmt: skip
    assert spent(ana) == before
    assert made in ana.reports()
    assert made in carla.reports()
    assert made not in rita.reports()
    done = carla.approve_report(made.id)
    assert (done.state, done.decided_by) == ("published", "carla")
    assert spent(ana) == before + Fraction(3, 4)
    assert carla.approve_report(made.id) == done
    assert done in rita.reports()
    report = rita.report(made.id)
    assert isinstance(report, Report)
    assert (report.title, report.edition, report.digest) == ("A year", "first", done.digest)
    table = report.table("by_clinic")
    assert isinstance(table.answer, Answer)
    assert [row[0] for row in table.answer.rows] == ["north", "south", "east", "west"]
    assert all(ends is not None for (ends,) in table.answer.intervals)
    assert table.chart == "bars"
    target = str(tmp_path / "year.html")
    write(report, target)
    assert verify(target).holds


def test_a_report_is_what_the_server_keeps(clinic: Clinic, everybody: dict[str, Connection]) -> None:
    """What is read of a report says all that the server says of it: the digest is that of either."""
    ana, carla, rita = (everybody[name] for name in ("ana", "carla", "rita"))
    made = ana.propose_report("visits", "kept", "Kept", TABLES)
    carla.approve_report(made.id)
    data = rita.get(f"/v1/reports/{made.id}")
    assert digest_of(data) == data["digest"] == rita.report(made.id).digest
    assert json.loads(json.dumps(rita.report(made.id).data())) == data


def test_a_report_file_is_proposed(everybody: dict[str, Connection], tmp_path: Path) -> None:
    """The server reads the file and finds what its queries cost; faults are told with their lines."""
    ana, path = everybody["ana"], tmp_path / "year.sql"
    path.write_text(FILE.format(name="of_a_file"), "utf-8")
    made = ana.propose_report_file("visits", path)
    assert [(one.name, one.epsilon) for one in made.questions] == [
        ("visits", Fraction(1, 4)), ("by_clinic", Fraction(3, 4)),
    ]  # fmt: skip
    path.write_text("-- report: Year\n-- name: a\nSELECT 1;", "utf-8")
    with pytest.raises(errors.InvalidParameter, match=r"line 1: .*\n  line 2: "):
        ana.propose_report_file("visits", path)
    path.write_bytes(b"\xff")
    with pytest.raises(errors.InvalidReport, match="is not UTF-8"):
        ana.propose_report_file("visits", path)


def test_a_report_is_rejected_with_a_note(everybody: dict[str, Connection]) -> None:
    """Its analyst reads why; nobody approves it any more."""
    ana, carla = everybody["ana"], everybody["carla"]
    made = ana.propose_report("visits", "dear", "Too dear", TABLES)
    assert carla.reject_report(made.id, "too dear").note == "too dear"
    assert next(one.note for one in ana.reports() if one.id == made.id) == "too dear"
    with pytest.raises(errors.InvalidParameter, match="already been decided"):
        carla.approve_report(made.id)
    assert "no report has this id" in refused("not-found", lambda: everybody["rita"].report(made.id))


def test_what_cannot_be_proposed_is_refused(everybody: dict[str, Connection]) -> None:
    """A query outside the grammar, an ε that is none, and a report that does not fit raise what a dataset raises."""
    ana, carla = everybody["ana"], everybody["carla"]
    with pytest.raises(errors.InvalidQuestion, match="by_clinic: "):
        ana.propose_report("visits", "a", "A", [{**TABLES[0], "sql": "DROP TABLE visits"}])
    for wrong in ({**TABLES[0], "epsilon": "much"}, {name: TABLES[0][name] for name in ("name", "title", "sql")}):
        with pytest.raises(errors.InvalidParameter):
            ana.propose_report("visits", "a", "A", [wrong])
    with pytest.raises(errors.InvalidParameter, match="questions"):
        ana.propose_report("visits", "a", "A", [{**TABLES[0], "rows": [[1]]}])
    made = ana.propose_report("visits", "large", "Large", [{**TABLES[0], "epsilon": 400}])
    with pytest.raises(errors.BudgetExceeded) as beyond:
        carla.approve_report(made.id)
    assert (int(beyond.value.requested), beyond.value.dataset, beyond.value.analyst) == (400, "visits", "ana")
    assert beyond.value.left_analyst == 200 - spent(ana)


def test_who_may_not_is_told_who_may(everybody: dict[str, Connection]) -> None:
    """A role that may not do something is refused in words, with the code of the server."""
    ana, carla, dora, rita = (everybody[name] for name in ("ana", "carla", "dora", "rita"))
    made = ana.propose_report("visits", "roles", "Roles", TABLES)
    for who in (ana, dora, rita):
        assert "custodian" in refused("not-allowed", lambda who=who: who.approve_report(made.id))
        assert "custodian" in refused("not-allowed", lambda who=who: who.reject_report(made.id))
    for who in (carla, dora, rita):
        assert "analyst" in refused("not-allowed", lambda who=who: who.propose_report("visits", "a", "A", TABLES))
        assert "analyst" in refused("not-allowed", lambda who=who: who.share_answer("a", "A", ["rita"]))
        assert who.shared() == []
    assert "no report has this id" in refused("not-found", lambda: rita.report("0" * 32))
    refused("not-found", lambda: rita.report("../keys"))
    with pytest.raises(errors.InvalidParameter, match="32 characters"):
        rita.report("roles")


def test_an_answer_is_shared_and_taken_back(clinic: Clinic, everybody: dict[str, Connection]) -> None:
    """Named people read it by its link, as its owner does, until the link is revoked; nobody else ever does."""
    ana, ben, rita = (everybody[name] for name in ("ana", "ben", "rita"))
    answer = ana.dataset("visits").sql(BY_CLINIC).ask("0.5", request_id="shared-one")
    before = spent(ana)
    link = ana.share_answer("shared-one", "For rita", ["rita", "carla"], description="As you asked.")
    assert (link.title, link.description, link.owner) == ("For rita", "As you asked.", "ana")
    assert (link.people, link.url) == (("carla", "rita"), f"{clinic.running.url}/shared/{link.id}")
    assert ana.links("shared-one") == [link]
    (theirs,) = rita.shared()
    assert (theirs.id, theirs.people) == (link.id, ("rita",))
    assert rita.shared_answer(link.id).rows == answer.rows
    assert rita.shared_answer(link.id).intervals == answer.intervals
    refused("not-found", lambda: ben.shared_answer(link.id))
    refused("not-found", lambda: ben.revoke_link("shared-one", link.id))
    ana.revoke_link("shared-one", link.id)
    assert (ana.links("shared-one"), rita.shared()) == ([], [])
    refused("not-found", lambda: rita.shared_answer(link.id))
    refused("not-found", lambda: ana.revoke_link("shared-one", link.id))
    assert spent(ana) == before


def test_people_are_those_of_the_file(everybody: dict[str, Connection]) -> None:
    """An answer is shared with people whom the file names, one of whom may stand alone."""
    ana = everybody["ana"]
    ana.dataset("visits").sql(BY_CLINIC).ask("0.5", request_id="named")
    with pytest.raises(errors.InvalidParameter, match="does not have all of these people"):
        ana.share_answer("named", "For nobody", ["somebody"])
    link = ana.share_answer("named", "For rita", "rita")
    assert link.people == ("rita",)
    ana.revoke_link("named", link.id)


@pytest.mark.parametrize("cut", get_args(Cut))
def test_an_approval_whose_connection_is_lost_is_paid_once(
    clinic: Clinic, everybody: dict[str, Connection], monkeypatch: pytest.MonkeyPatch, cut: Cut
) -> None:
    """Wherever the connection is lost, the approval is sent again, waits for what is run, and charges once."""
    monkeypatch.setattr(waiting, "FIRST", 0.02)
    ana = everybody["ana"]
    before, made = spent(ana), ana.propose_report("visits", "cut", "Cut", TABLES, edition=str(get_args(Cut).index(cut)))
    cutter = Cutter(clinic.running.address)
    try:
        cutter.cuts = [cut]
        with clinic.connect("carla", url=cutter.url) as carla:
            assert carla.approve_report(made.id).state == "published"
        assert len(cutter.requests) > 1
    finally:
        cutter.close()
    assert spent(ana) == before + Fraction(3, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda who: who.propose_report("visits", "once", "Once", TABLES),
        lambda who: who.share_answer("once", "Once", "rita"),
        lambda who: who.reject_report("0" * 32),
    ],
)
def test_what_makes_something_is_sent_once(clinic: Clinic, call: Callable[[Connection], Any]) -> None:
    """What has no request id, and would be made or refused a second time, is sent once, whatever becomes of it."""
    cutter = Cutter(clinic.running.address)
    try:
        cutter.cuts = ["before the response"] * 5
        with clinic.connect(url=cutter.url) as ana, pytest.raises(errors.ServerUnreachable):
            call(ana)
        assert len(cutter.requests) == 1
    finally:
        cutter.close()
