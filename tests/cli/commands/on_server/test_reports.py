"""Reports and shared answers of a server, from the command line: every example runs, every role is told what it may."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inbounds.cli.shell.server import find_entry
from inbounds.client import Connection, Link
from inbounds.errors import InvalidParameter
from tests.cli.conftest import Type, Typed, within_80
from tests.cli.test_help import ABOUT_SERVERS, example_of, run_line
from tests.client.conftest import Clinic, serve_clinic
from tests.helpers.served_hospital import running

pytestmark = pytest.mark.slow

ADDRESS = "https://inbounds.hospital.example"
BY_CLINIC = "SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic"
REPORT = f"""-- report: {{name}}
-- title: A year at the clinic
-- total: 0.5
-- name: visits
SELECT COUNT(*) AS visits FROM visits;
-- name: by_clinic
-- title: Visits by clinic
{BY_CLINIC};
"""

LINK = Link("", "", "", None, "", "", ())

As = Callable[[str], None]


@pytest.fixture(scope="module")
def served_clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """The clinic, served for all tests of this module."""
    served = serve_clinic(tmp_path_factory.mktemp("served"))
    with running(served) as found:
        yield Clinic(served, found)


@pytest.fixture
def at(served_clinic: Clinic) -> tuple[str, str]:
    """What is typed to name the server."""
    return "--server", served_clinic.running.url


@pytest.fixture
def be(served_clinic: Clinic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> As:
    """Return what puts somebody's key into the environment; work in a folder of its own, as ana."""
    monkeypatch.chdir(tmp_path)

    def become(name: str) -> None:
        monkeypatch.setenv("INBOUNDS_KEY", served_clinic.served.keys[name])

    become("ana")
    return become


@pytest.fixture
def ana(served_clinic: Clinic) -> Iterator[Connection]:
    """A connection of ana's."""
    with served_clinic.connect() as connection:
        yield connection


def propose(typed: Type, at: tuple[str, str], name: str) -> str:
    """Propose a report of two tables, and return its id."""
    Path("report.sql").write_text(REPORT.format(name=name), "utf-8")
    return str(typed("reports", "propose", "report.sql", "--dataset", "visits", *at, "--json").data["id"])


def facts(text: str) -> dict[str, str]:
    """Return the names and the first words of what is listed below each other."""
    return dict(re.findall(r"^([\w()ε ]+?)  +(.+)$", text, re.MULTILINE))


def refused(found: Typed, said: str, code: int = 2) -> None:
    """Hold that a command printed nothing but a refusal of one line."""
    assert (found.code, found.out, found.err.count("\n")) == (code, "", 1)
    assert said in found.err


def test_a_report_is_proposed_approved_and_read(
    typed: Type, be: As, at: tuple[str, str], served_clinic: Clinic, ana: Connection
) -> None:
    """An analyst proposes for free, the custodian approves with the cost in sight, a reader reads it and writes it."""
    Path("report.sql").write_text(REPORT.format(name="read"), "utf-8")
    proposed = typed("reports", "propose", "report.sql", "--dataset", "visits", *at)
    assert (proposed.code, proposed.err, within_80(proposed.out)) == (0, "", True)
    said = facts(proposed.out)
    assert (said["state"], said["cost (ε)"]) == ("proposed", "0.5, paid by ana")
    before = ana.dataset("visits").budget()["own"]["spent"]
    be("rita")
    refused(typed("reports", "show", said["id"], *at), "no report has an id that begins with")
    be("carla")
    refused(typed("reports", "approve", said["id"], *at), "add --yes to spend epsilon 0.5 of ana's budget")
    assert ana.dataset("visits").budget()["own"]["spent"] == before
    refused(typed("reports", "show", said["id"], *at), "'A year at the clinic' is proposed")
    approved = typed("reports", "approve", said["id"][:12], "--yes", *at)
    assert (approved.code, facts(approved.out)["state"]) == (0, "published")
    be("rita")
    shown = typed("reports", "show", said["id"], *at)
    assert (shown.code, shown.err, within_80(shown.out)) == (0, "", True)
    assert "95 % interval" in shown.out
    assert facts(shown.out)["digest"] == facts(approved.out)["digest"]
    targets = ("--to", "year.html", "--to", "year.xlsx", "--to", "year/", "--to", "year.duckdb", "--to", "year.json")
    written = typed("reports", "show", said["id"], *at, *targets)
    assert written.out.count("2 tables") == 5
    for target in targets[1::2]:
        checked = typed("publish", "--verify", target)
        assert (checked.code, checked.err) == (0, "")
        assert facts(approved.out)["digest"] in "".join(checked.out.split())


def test_the_beginning_of_an_id_must_tell_it_from_others() -> None:
    """Where several ids begin alike, more of it is asked for; a whole one is enough, in large letters too."""
    first, second = (replace(LINK, id=letter * 3) for letter in ("aba", "abb"))
    assert find_entry([first, second], "ABAABA", "link", "") == first
    with pytest.raises(InvalidParameter, match="more than one link has an id that begins with 'ab'; type more of it"):
        find_entry([first, second], "ab", "link", "")


def test_reports_are_listed(typed: Type, be: As, at: tuple[str, str]) -> None:
    """Everybody sees what is published; a proposal is seen by its analyst and by custodians only."""
    name = propose(typed, at, "listed")
    listed = typed("reports", "list", *at)
    assert (listed.code, within_80(listed.out)) == (0, True)
    assert name[:12] in listed.out
    for who, there in (("carla", True), ("ben", False), ("dora", False), ("rita", False)):
        be(who)
        assert (name in [one["id"] for one in typed("reports", "list", *at, "--json").data]) is there


def test_a_report_is_rejected(typed: Type, be: As, at: tuple[str, str]) -> None:
    """Its analyst reads why."""
    name = propose(typed, at, "rejected")
    be("carla")
    assert typed("reports", "reject", name, "--note", "too dear", *at).code == 0
    be("ana")
    (mine,) = [one for one in typed("reports", "list", *at, "--json").data if one["id"] == name]
    assert (mine["state"], mine["note"]) == ("rejected", "too dear")


def test_an_answer_is_shared_listed_shown_and_revoked(
    typed: Type, be: As, at: tuple[str, str], ana: Connection
) -> None:
    """Named people read an answer by its link, with its intervals, until it is revoked."""
    answer = ana.dataset("visits").sql(BY_CLINIC).ask("0.5", request_id="to-share")
    shared = typed("share", "answer", "to-share", "--with", "rita", "--with", "dora", "--title", "By clinic", *at)
    assert (shared.code, shared.err, within_80(shared.out)) == (0, "", True)
    link = facts(shared.out)["id"]
    assert facts(shared.out)["page"] == f"{at[1]}/shared/{link}"
    assert link[:12] in typed("share", "list", "to-share", *at).out
    be("rita")
    listed = typed("share", "list", *at)
    assert within_80(listed.out)
    assert link[:12] in listed.out
    shown = typed("share", "show", link[:12], *at)
    assert (shown.code, within_80(shown.out)) == (0, True)
    assert "95 % interval" in shown.out
    assert facts(shown.out)["shared by"] == "ana"
    assert typed("share", "show", link, *at, "--json").data["answer"]["rows"] == [list(row) for row in answer.rows]
    be("ben")
    refused(typed("share", "show", link, *at), "inbounds share list shows all of them")
    be("ana")
    assert typed("share", "revoke", "to-share", link[:12], *at).code == 0
    assert typed("share", "list", "to-share", *at).out == "this answer has no links\n"
    be("rita")
    assert typed("share", "list", *at).out == "no answer is shared with you\n"
    refused(typed("share", "show", link, *at), "no link has an id that begins with")


def test_every_example_runs(typed: Type, be: As, at: tuple[str, str], ana: Connection) -> None:
    """The example in the help of each of these commands does what it should, typed by whoever may."""
    ana.dataset("visits").sql(BY_CLINIC).ask("0.5", request_id="q1")
    names = [propose(typed, at, f"example_{number}") for number in range(2)]
    link = ana.share_answer("q1", "For an example", ["carla"]).id
    Path("report.sql").write_text(REPORT.format(name="example_3"), "utf-8")
    roles = {"reports approve": "carla", "reports reject": "carla", "share show": "carla"}
    order = [*(name for name in ABOUT_SERVERS if name != "share revoke"), "share revoke"]
    order.remove("reports approve")
    for name in ["reports approve", *order]:
        be(roles.get(name, "ana"))
        example = example_of(typed(*name.split(), "--help").out, name)
        report = names[1] if name == "reports reject" else names[0]
        line = example.replace(ADDRESS, at[1]).replace(" 3f0c ", f" {report} ").replace(" 5b1e ", f" {link} ")
        found = run_line(typed, line)
        assert (found.code, found.err) == (0, ""), line
        assert found.out


@pytest.mark.parametrize("words", [("reports", "approve"), ("reports", "reject")])
def test_only_custodians_decide(typed: Type, be: As, at: tuple[str, str], words: tuple[str, str]) -> None:
    """Whoever may not decide about reports is told who may."""
    name = propose(typed, at, f"decided_{words[1]}")
    refused(typed(*words, name, *at, *(["--yes"] if words[1] == "approve" else [])), "custodian")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("reports", "show", "zz"),
            "no report has an id that begins with 'zz'; inbounds reports list",
        ),
        (("reports", "show", ""), "no report has an id that begins with ''"),
        (("reports", "propose", "none.sql", "--dataset", "visits"), "none.sql"),
        (("reports", "propose", "bad.sql", "--dataset", "visits"), "line 1: a report needs a name"),
        (("share", "answer", "never", "--with", "rita", "--title", "a"), "you have no query with this"),
        (
            ("share", "revoke", "never", "5b1e"),
            "no link to this answer has an id that begins with '5b1e'",
        ),
        (("share", "revoke", "a", "b", "c"), "this command takes 2 arguments besides its options, got 3"),
        (("share", "answer", "a"), "share answer: --with and --title are missing"),
    ],
)
def test_what_is_not_there_is_refused(
    typed: Type, be: As, at: tuple[str, str], words: tuple[str, ...], said: str
) -> None:
    """What is mistyped is named, with what to do, and there is never a traceback."""
    Path("bad.sql").write_text("-- name: a\n-- epsilon: 1\nSELECT COUNT(*) FROM visits", "utf-8")
    found = typed(*words, *at)
    assert found.code in {1, 2}
    assert found.out == ""
    assert said in found.err
    assert "Traceback" not in found.err
