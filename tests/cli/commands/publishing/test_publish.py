"""`inbounds publish`: the plan first, then the question whether to pay, then the report at every target."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.cli.commands.publishing import publish as command
from inbounds.errors import InvalidParameter
from inbounds.publish import Report, destinations
from tests.cli.conftest import Type, within_80

WORDS = ("publish", "report.sql", "--dataset", "clinic.toml", "--analyst", "office")


@pytest.fixture(autouse=True)
def targets(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write reports as JSON, and note what is written where."""
    written: list[str] = []

    def write(report: Report, target: str) -> str:
        Path(target).write_text(json.dumps(report.data()), "utf-8")
        written.append(target)
        return f"{target}, {len(report.tables)} tables"

    def check_target(target: str, name: str, *, practice: bool) -> None:
        assert name == "clinic_year"
        if target.endswith(".doc"):
            raise InvalidParameter(f"a report cannot be written to {target!r}; name a file that ends in .html")

    monkeypatch.setattr(destinations, "write", write)
    monkeypatch.setattr(destinations, "check_target", check_target)
    return written


def spent(typed: Type) -> Fraction:
    """Return what is spent in all; nothing, where there is no ledger yet."""
    if not list(Path().glob("*.db")):
        return Fraction(0)
    return Fraction(str(typed("budget", "show", "--dataset", "clinic.toml", "--json").data["total"]["spent"]))


def test_a_plan_spends_nothing(typed: Type, clinic: Path) -> None:
    """`--plan` shows what each query costs and how far off it will be, and makes no ledger."""
    found = typed(*WORDS, "--plan")
    assert (found.code, found.err) == (0, "")
    assert within_80(found.out)
    assert "5 left, 3.5 afterwards" in found.out
    assert "visits, visits_by_clinic, visits_by_month are released" in found.out
    data = typed(*WORDS, "--plan", "--json").data
    assert (data["due"], data["fits"], data["left"]) == (1.5, True, {"total": 5, "analyst": 3})
    assert not list(clinic.glob("*.db"))


def test_without_a_terminal_it_has_to_be_said(typed: Type, clinic: Path, targets: list[str]) -> None:
    """Where nobody can be asked, the plan is shown and nothing spent, unless --yes says that it is agreed to."""
    for words in ((), ("--json",)):
        found = typed(*WORDS, "--to", "out.html", *words)
        assert found.code == 2
        assert "1.5" in found.out
        assert found.err.endswith("nothing was spent; add --yes to publish the report and spend epsilon 1.5\n")
    assert (targets, spent(typed)) == ([], Fraction(0))
    found = typed(*WORDS, "--to", "out.html", "--to", "out.json", "--yes")
    assert found.code == 0
    assert within_80(found.out)
    assert (targets, spent(typed)) == (["out.html", "out.json"], Fraction(3, 2))
    assert "out.html, 4 tables" in found.out


def test_what_is_paid_is_free_and_needs_no_word(typed: Type, clinic: Path) -> None:
    """Run again, for another target, a report is the same, costs nothing and asks nobody."""
    first = typed(*WORDS, "--to", "a.html", "--yes", "--json")
    again = typed(*WORDS, "--to", "b.html", "--json").data
    data = json.loads(first.out)
    assert (data["paid_now"], again["paid_now"]) == (1.5, 0)
    assert (data["ledger_created"], again["ledger_created"]) == (True, False)
    assert again["digest"] == data["digest"]
    assert (clinic / "a.html").read_text() == (clinic / "b.html").read_text()
    assert spent(typed) == Fraction(3, 2)


@pytest.mark.parametrize(("answer", "code", "cost"), [("y", 0, "1.5"), ("n", 130, "0"), ("", 130, "0")])
def test_on_a_terminal_it_is_asked(
    typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, cost: str
) -> None:
    """A person is asked, told what it costs, and nothing is spent unless they say yes."""
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    found = typed(*WORDS, "--to", "out.html", stdin=f"{answer}\n")
    assert found.code == code
    assert "(spends epsilon 1.5)? [y/N]" in found.err
    assert spent(typed) == Fraction(cost)


def test_what_does_not_fit_is_refused_with_its_plan(typed: Type, clinic: Path) -> None:
    """With too little budget the plan is shown, nothing is spent, and the exit code is that of a refused budget."""
    report = clinic / "report.sql"
    report.write_text(report.read_text("utf-8").replace("total: 1.5", "total: 4"), "utf-8")
    found = typed(*WORDS, "--to", "out.html", "--yes")
    assert found.code == 3
    assert "does not fit" in found.out
    assert "it would fit without the total and with epsilon" in found.err
    assert spent(typed) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "out.doc"), "a report cannot be written to 'out.doc'; name a file that ends in .html"),
        ((), "--to is missing; name a file such as report.html, or add --plan to see the plan only"),
    ],
)
def test_targets_are_looked_at_first(typed: Type, clinic: Path, words: tuple[str, ...], said: str) -> None:
    """A target that cannot be written is refused before anything is planned or spent, and so is none at all."""
    found = typed(*WORDS, "--yes", *words)
    assert (found.code, found.out, found.err) == (2, "", f"inbounds: {said}\n")
    assert not list(clinic.glob("*.db"))


def test_somebody_has_to_pay(typed: Type, clinic: Path) -> None:
    """Without a server, whose key tells who asks, a name is needed."""
    found = typed(*WORDS[:4], "--plan")
    assert found.code == 2
    assert "--analyst is missing" in found.err


def test_faults_of_a_report_are_bad_input(typed: Type, clinic: Path) -> None:
    """All faults are told, each in a line, with the exit code of bad input."""
    (clinic / "report.sql").write_text("-- report: A\n-- name: b\nSELECT 1", "utf-8")
    found = typed(*WORDS, "--plan")
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("inbounds: report.sql has 2 faults; correct each of them:\n  line 1: ")


def test_an_interrupted_report_says_how_to_go_on(
    typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch, targets: list[str]
) -> None:
    """Interrupted while a target is written, the command says that it can be repeated; that is then free."""
    write = destinations.write

    def interrupt(report: Report, target: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(destinations, "write", interrupt)
    found = typed(*WORDS, "--to", "out.html", "--yes")
    assert found.code == 130
    assert "publishing 'clinic_year' was interrupted; the same command goes on with it, and pays nothing" in found.err
    monkeypatch.setattr(destinations, "write", write)
    assert typed(*WORDS, "--to", "out.html").code == 0
    assert (targets, spent(typed)) == (["out.html"], Fraction(3, 2))


def test_a_refusal_is_no_interruption(typed: Type, clinic: Path) -> None:
    """Under changed terms nothing is charged, and nobody is told to type the same again; what is told works."""
    assert typed(*WORDS, "--yes", "--to", "a.json").code == 0
    contract = clinic / "clinic.toml"
    contract.write_text(contract.read_text("utf-8").replace("max_rows_per_unit = 4", "max_rows_per_unit = 3"), "utf-8")
    found = typed(*WORDS, "--yes", "--to", "a.json")
    assert (found.code, "interrupted" in found.err) == (2, False)
    assert "let the custodian record the change (inbounds budget contract)" in found.err
    assert typed("budget", "contract", "--dataset", "clinic.toml", "--reason", "less noise").code == 0
    assert typed(*WORDS, "--yes", "--to", "a.json").code == 0
    assert spent(typed) == 3


def test_a_published_report_is_verified(typed: Type, clinic: Path) -> None:
    """`--verify` says that a report is unchanged; of one with another digit it says so, and leaves with code 1."""
    assert typed(*WORDS, "--yes", "--to", "report.json").code == 0
    found = typed("publish", "--verify", "report.json")
    assert (found.code, found.err) == (0, "")
    assert "report.json is unchanged: 4 tables, digest" in found.out
    path = clinic / "report.json"
    data = json.loads(path.read_text("utf-8"))
    data["tables"][0]["answer"]["rows"][0][0] += 1
    path.write_text(json.dumps(data), "utf-8")
    found = typed("publish", "--verify", "report.json", "--json")
    assert found.code == 1
    told = json.loads(found.out)
    assert (told["holds"], len(told["faults"])) == (False, 1)


@pytest.mark.parametrize("words", [("report.sql",), ("--to", "out.html"), ("--yes",), ("--dataset", "clinic.toml")])
def test_nothing_is_passed_over_beside_verify(typed: Type, clinic: Path, words: tuple[str, ...]) -> None:
    """Whoever names a report to verify and one to publish is not left to think that both was done."""
    found = typed("publish", "--verify", "report.json", *words)
    assert (found.code, found.out) == (2, "")
    assert "--verify publishes nothing and takes no other option but --json" in found.err


@pytest.mark.parametrize("words", [("publish",), ("publish", "report.sql")])
def test_what_is_missing_is_said_with_a_line_that_works(typed: Type, clinic: Path, words: tuple[str, ...]) -> None:
    """Without a report or a dataset the refusal has a whole line, which is accepted."""
    found = typed(*words)
    assert found.code == 2
    line = " ".join(found.err.split()).partition("write inbounds ")[2]
    assert typed(*line.split()).code == 0
    assert not list(clinic.glob("*.db"))


def test_a_report_can_be_practised(typed: Type, clinic: Path) -> None:
    """`--practise` needs no name and charges nothing; what it writes is marked, in the file and in what is said."""
    found = typed("publish", "report.sql", "--dataset", "clinic.toml", "--practise", "--to", "report.json")
    assert (found.code, found.err) == (0, "")
    assert "4 tables of MADE-UP ROWS; nothing was charged" in " ".join(found.out.split())
    report = Report.read(json.loads((clinic / "report.json").read_text("utf-8")))
    assert report.practice
    assert all(table.answer.practice for table in report.tables)
    assert not list(clinic.glob("*.db"))
