"""The R package asks what the Python client asks: the same numbers, the same charges, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import ExitStack
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest

from inbounds.exact.amount import fraction
from inbounds.query import Answer
from tests.clients.conftest import Site
from tests.helpers.cut_connections import Cutter
from tests.helpers.other_server import OtherServer
from tests.helpers.programs import PATIENCE
from tests.helpers.r_language import PACKAGE, R
from tests.helpers.served_hospital import wait_for

pytestmark = pytest.mark.thorough  # R is started for them

SECRET = "inb_0123456789ab_" + "k" * 43

COUNT = "SELECT COUNT(*) FROM visits"

QUESTIONS = {
    "visits": [
        "SELECT clinic, COUNT(*), AVG(age), SUM(minutes) FROM visits GROUP BY clinic",
        "SELECT clinic, finding, COUNT(*) AS n FROM visits GROUP BY ROLLUP (clinic, finding)",
        "SELECT COUNT(day), QUANTILES(day, 0.4, 0.5, 0.6) FROM visits",
        "SELECT clinic, AVG(age) FROM visits WHERE finding = 'rare' GROUP BY clinic",
        "SELECT COUNT(*) / 7 AS weekly, COUNT(*) FROM visits",
    ],
    "kinds": [
        "SELECT COUNT(seen), QUANTILES(seen, 0.4, 0.5, 0.6), MEDIAN(clock), MEDIAN(arrived) FROM kinds",
        "SELECT urgent, SUM(amount), COUNT(*) FROM kinds GROUP BY urgent",
        "SELECT town, ward, COUNT(*), AVG(weight) FROM kinds GROUP BY town, ward",
        "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM kinds GROUP BY month",
        "SELECT DATE_TRUNC('hour', clock) AS hour, COUNT(*) FROM kinds GROUP BY hour",
    ],
}

WRITE = """
    plain <- function(x) {
        if (inherits(x, "Date")) format(x)
        else if (inherits(x, "POSIXct")) list(attr(x, "tzone"), format(x, "%Y-%m-%dT%H:%M:%S"))
        else if (inherits(x, "hms")) plain(as.double(x, units = "secs"))
        else if (is.double(x)) ifelse(is.na(x), NA, sprintf("%.17g", x))
        else x
    }
    write_columns <- function(answer) {
        told <- attributes(answer)
        data <- list(types = lapply(answer, function(x) class(x)[1]), columns = lapply(answer, plain),
                     epsilon = plain(told$epsilon), id = told$request_id, caveat = told$caveat)
        writeLines(jsonlite::toJSON(data, digits = NA, na = "null", null = "null", auto_unbox = FALSE))
    }
"""
"""R code that writes an answer for a reader who knows nothing of R."""

TYPES = {bool: "logical", str: "character", float: "numeric", date: "Date", datetime: "POSIXct", time: "hms"}


def in_r(code: str) -> str:
    """Return code with the package and a connection."""
    return f"library(inbounds); clinic <- inb_connect(Sys.getenv('URL')); {code}"


def facts(site: Site, who: str = "ana") -> dict[str, str]:
    """Return where the server is and who asks, for the environment."""
    return {"URL": site.running.url, "INBOUNDS_KEY": site.served.keys[who]}


def written(cell: Any) -> Any:
    """Return a cell as R writes it here."""
    if isinstance(cell, time):
        return (datetime.combine(date.min, cell) - datetime.min) / timedelta(seconds=1)
    return cell.isoformat() if isinstance(cell, date) else cell


def read(cells: list[Any], kind: str) -> list[Any]:
    """Return cells that R wrote: doubles with all their digits."""
    if kind == "POSIXct":
        (zone,), cells = cells
        assert zone == "UTC"
    return [cell if cell is None or kind not in ("numeric", "hms") else float(cell) for cell in cells]


def expected(answer: Answer) -> dict[str, list[Any]]:
    """Return the columns that R has for an answer: each measure before its interval and its noise."""
    columns: dict[str, list[Any]] = {}
    for place, name in enumerate(answer.columns):
        columns[name] = [row[place] for row in answer.rows]
        if place not in answer.measure_places:
            continue
        at = answer.measure_places.index(place)
        learnt = [row[at] for row in answer.learnt]
        columns[name] = [cell if tells else None for cell, tells in zip(columns[name], learnt, strict=True)]
        for end, rider in enumerate(("low", "high")):
            ends = [row[at] for row in answer.intervals] if answer.intervals else [None] * len(answer.rows)
            columns[f"{name}_{rider}"] = [None if both is None else both[end] for both in ends]
        noise = [row[at] if tells else None for row, tells in zip(answer.noise, learnt, strict=True)]
        columns[f"{name}_noise"] = noise
        if not all(learnt):
            columns[f"{name}_nothing_learnt"] = [not tells for tells in learnt]
    return {name: [written(cell) for cell in cells] for name, cells in columns.items()}


def check_types(answer: Answer, types: dict[str, list[str]]) -> None:
    """Require of every released column the type of R that its values call for."""
    for place, name in enumerate(answer.columns):
        cells = [row[place] for row in answer.rows if row[place] is not None]
        (found,) = types[name]
        if cells and all(type(cell) is int for cell in cells):
            assert found == ("integer" if max(map(abs, cells)) < 2**31 else "numeric")
        elif cells:
            assert {found} == {TYPES[type(cell)] for cell in cells}


def test_its_own_tests_pass(r: R, site: Site) -> None:
    """The tests of the package pass, those on a real server too."""
    questions = [{"name": "by_clinic", "title": "Visits", "sql": "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"}]
    proposal = {"dataset": "visits", "name": "year", "title": "A year", "questions": questions}
    questions[0]["epsilon"] = "0.1"
    with site.connect() as ana, site.connect("carla") as carla:
        report = ana.post("/v1/reports", proposal)["id"]
        carla.post(f"/v1/reports/{report}/approve", {})
    keys = {f"INBOUNDS_TEST_KEY_{name.upper()}": key for name, key in site.served.keys.items()}
    code = f"""
        library(testthat)
        done <- as.data.frame(test_dir("{PACKAGE}/tests/testthat", package = "inbounds", load_package = "installed",
                                       reporter = "check", stop_on_failure = TRUE, stop_on_warning = TRUE))
        cat(sum(done$skipped), "skipped of", nrow(done))
    """
    said = r.run(code, INBOUNDS_TEST_URL=site.running.url, INBOUNDS_TEST_REPORT=report, **keys)
    skipped, count = map(int, said.splitlines()[-1].split(" skipped of "))
    assert (skipped, count > 40) == (0, True)


@pytest.mark.parametrize("dataset", QUESTIONS)
def test_numbers_are_those_of_python(r: R, site: Site, dataset: str) -> None:
    """Every cell, end of an interval and expected noise is the one that Python reads, and of the right type."""
    asked = json.dumps(QUESTIONS[dataset], ensure_ascii=False)
    code = f"""{WRITE}
        questions <- jsonlite::fromJSON(Sys.getenv("QUESTIONS"))
        for (at in seq_along(questions)) {{
            write_columns(inb_ask(clinic, "{dataset}", questions[at], 0.5, id = paste0("r-{dataset}-", at)))
        }}
    """
    answers = list(map(json.loads, r.run(in_r(code), QUESTIONS=asked, **facts(site)).splitlines()))
    assert len(answers) == len(QUESTIONS[dataset])
    with site.connect() as ana:
        for number, found in enumerate(answers, 1):
            answer = ana.dataset(dataset).answer(f"r-{dataset}-{number}")
            columns = {name: read(cells, *found["types"][name]) for name, cells in found["columns"].items()}
            assert columns == expected(answer)
            assert list(columns) == list(expected(answer))
            check_types(answer, found["types"])
            assert (found["epsilon"], found["id"]) == (["0.5"], [f"r-{dataset}-{number}"])
            assert (found["caveat"] or [None]) == [answer.caveat]


def test_it_is_charged_as_python_is(r: R, site: Site) -> None:
    """A query asked in R and one asked in Python are one question at one price: under one id the second is free."""
    sql = "SELECT clinic, AVG(minutes) FROM visits GROUP BY clinic"
    r.run(in_r(f"inb_ask(clinic, 'visits', '{sql}', 0.3, id = 'first-in-r')"), **facts(site))
    with site.connect() as ana:
        visits = ana.dataset("visits")
        before = site.charges("visits")
        visits.sql(sql).ask("0.3", request_id="first-in-r")
        assert site.charges("visits") == before
        visits.sql(sql).ask("0.3", request_id="first-in-python")
    r.run(in_r(f"inb_ask(clinic, 'visits', '{sql}', 0.3, id = 'first-in-python')"), **facts(site))
    in_one, in_other = site.charges("visits")[-2:]
    assert (in_one.request_id, in_other.request_id) == ("ana/first-in-r", "ana/first-in-python")
    assert in_one.fingerprint == in_other.fingerprint
    assert in_one.amount == in_other.amount
    assert fraction(in_one.amount) * 10 == 3


def test_a_query_whose_connection_is_lost_is_paid_once(r: R, site: Site) -> None:
    """Wherever the connection is lost, the query is sent again under the same id, answered, and charged once."""
    cutter = Cutter(site.running.address)
    try:
        cutter.cuts = ["before the response", "within the response", "after the request", "before the request"]
        asked = f"inb_ask(clinic, 'visits', '{COUNT}', 0.1, edition = 'lost')"
        code = f"invisible(inb_datasets(clinic)); cat(attr({asked}, 'request_id'))"
        before = len(site.charges("visits"))
        name = r.run(in_r(code), **{**facts(site), "URL": cutter.url})
        sent = {line for one in cutter.requests for line in one.split(b"\r\n") if line.startswith(b"Idempotency-Key")}
    finally:
        cutter.close()
    assert len(cutter.requests) > 4
    assert sent == {f"Idempotency-Key: {name}".encode()}
    assert [one.request_id for one in site.charges("visits")[before:]] == [f"ana/{name}"]


def test_two_at_once_get_one_answer(r: R, site: Site) -> None:
    """Two sessions that ask the same at the same time are charged once, and given the same numbers."""
    before = len(site.charges("slow"))
    code = in_r("cat(as.character(inb_ask(clinic, 'slow', 'SELECT COUNT(*), AVG(weight) FROM slow', 0.5)))")
    with ExitStack() as stack:
        both = [stack.enter_context(r.running(code, **facts(site))) for _ in range(2)]
        said = {process.communicate(timeout=PATIENCE) for process in both}
    assert len(said) == 1, said
    assert len(site.charges("slow")) == before + 1


def test_an_interrupted_query_is_answered_later(r: R, site: Site) -> None:
    """After an interrupt the same session asks again, gets its answer, and was charged once; nobody was held up."""
    before = len(site.charges("slow"))
    code = """
        ask <- function() inb_ask(clinic, "slow", "SELECT SUM(amount) FROM slow", 0.5)
        cat(tryCatch({ ask(); "answered" }, interrupt = function(i) "interrupted"), "")
        cat(nrow(ask()))
    """
    with r.running(in_r(code), **facts(site)) as process:
        wait_for(lambda: len(site.charges("slow")) > before)
        process.send_signal(signal.SIGINT)
        with site.connect("ben") as ben:
            assert ben.dataset("visits").sql(COUNT).ask("0.1").rows
        said, complained = process.communicate(timeout=PATIENCE)
    assert (said, complained.strip()) == ("interrupted 1", "")
    assert len(site.charges("slow")) == before + 1


def test_what_is_refused_is_not_paid(r: R, site: Site) -> None:
    """A wrong key, a question that is none, and one that costs too much leave the ledger as it was."""
    before = site.charges("visits")
    code = f"""
        said <- function(code) tryCatch(code, error = function(e) writeLines(c(class(e)[1], conditionMessage(e))))
        said(inb_ask(clinic, "visits", "SELECT AVG(agee) FROM visits", 1))
        said(inb_ask(clinic, "visits", "{COUNT}", 900))
        said(inb_ask(inb_connect(Sys.getenv("URL"), "{SECRET}"), "visits", "{COUNT}", 1))
        invisible(inb_explain(clinic, "visits", "{COUNT}", 1))
        inb_ask(inb_connect(Sys.getenv("URL"), "{SECRET}"), "visits", "{COUNT}", 1)
    """
    with r.running(in_r(code), **facts(site)) as process:
        said, complained = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    for code in ("invalid_question", "budget_exceeded", "not_authenticated"):
        assert f"inbounds_{code}\n" in said
    assert "ask the custodian to grant more" in said
    assert "API key" in complained
    assert SECRET not in said + complained
    assert site.served.keys["ana"] not in said + complained
    assert site.charges("visits") == before


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_the_key_goes_nowhere_else(r: R, status: int) -> None:
    """A redirect is not followed, and a proxy that the environment names is not told a key for this machine."""
    goal = OtherServer(200, {"Content-Type": "application/json"}, b"[]")
    here = OtherServer(status, {"Location": f"{goal.url}/v1/datasets"})
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"), goal.url)
    try:
        said = r.run(
            in_r("cat(class(tryCatch(inb_datasets(clinic), error = identity)))"),
            URL=here.url,
            INBOUNDS_KEY=SECRET,
            no_proxy="",
            **proxies,
        )
        assert said == "inbounds_unknown inbounds_refused inbounds_error error condition"
        assert (len(here.sent), goal.sent) == (1, [])
        assert here.sent[0][1]["Authorization"] == f"Bearer {SECRET}"
    finally:
        goal.close()
        here.close()


@pytest.mark.parametrize(("status", "code"), [(429, "too-many"), (503, "server-unavailable")])
def test_nobody_waits_who_has_no_patience(r: R, status: int, code: str) -> None:
    """A refusal that asks to wait is told at once to those who do not wait: nothing below waits for them."""
    body = json.dumps({"code": code, "detail": "wait a moment"}).encode()
    busy = OtherServer(status, {"Content-Type": "application/problem+json", "Retry-After": "1"}, body)
    try:
        code = """
            invisible(trace("Sys.sleep", quote(cat("slept ")), print = FALSE, where = baseenv()))
            impatient <- inb_connect(Sys.getenv("URL"), patience = 0)
            tryCatch(inb_datasets(impatient), inbounds_error = function(e) cat(conditionMessage(e)))
        """
        said = r.run(in_r(code), URL=busy.url, INBOUNDS_KEY=SECRET)
        assert said == "wait a moment"
        assert len(busy.sent) == 1
    finally:
        busy.close()


def test_it_can_be_checked(r: R, tmp_path_factory: pytest.TempPathFactory) -> None:
    """`R CMD check --no-manual` finds no error and no warning; what it notes is what this machine lacks."""
    folder = tmp_path_factory.mktemp("check")
    program = r.run("cat(file.path(R.home('bin'), 'R'))")

    def do(*words: str) -> str:
        settings = {"_R_CHECK_FORCE_SUGGESTS_": "false", "LANG": "C.UTF-8", "TMPDIR": str(folder)}
        command = [program, "CMD", *words]
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | settings,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    do("build", str(PACKAGE))
    (built,) = folder.glob("*.tar.gz")
    said = do("check", "--no-manual", str(built))
    assert "WARNING" not in said
    assert "ERROR" not in said
    noted = [line for line in said.splitlines() if line.startswith("*") and line.endswith("NOTE")]
    lacking = ("checking package dependencies", "checking top-level files", "checking for future file timestamps")
    assert [line for line in noted if not any(lack in line for lack in lacking)] == []
