"""What an interval is about, how far off an answer is, and what is spent: said rightly on pages, pictures and files."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from urllib.parse import quote
from xml.etree import ElementTree

import pytest

from inbounds.results.cover import CAVEAT
from tests.helpers.page_visitor import Visit, visit
from tests.helpers.served_hospital import Served

CUT = "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"
UNCUT = "SELECT clinic, COUNT(DISTINCT patient) FROM visits GROUP BY clinic"
MEDIAN = "SELECT clinic, MEDIAN(age) FROM visits GROUP BY clinic"
MEAN = "SELECT AVG(age) FROM visits"
RIDER = "95 % interval (noise only)"


@pytest.fixture(scope="module")
def ana(hospital: Served) -> Visit:
    """Somebody who has asked what a row limit cuts, what it does not, and for medians."""
    found = visit(hospital, "ana")
    for key, sql in (("cut", CUT), ("uncut", UNCUT), ("median", MEDIAN)):
        assert found.post("/ask/visits", sql=sql, epsilon="0.5", key=key).status_code == 303
    return found


def texts(who: Visit, path: str) -> str:
    """Return the texts of a picture."""
    return "\n".join(ElementTree.fromstring(who.get(path).text).itertext())


def test_a_page_names_its_intervals(ana: Visit) -> None:
    """The head of a table, the line below it and the words for a picture say that an interval is of the noise only."""
    cut, uncut = (ana.get(f"/answers/{key}").text for key in ("cut", "uncut"))
    assert f">{RIDER}</th>" in cut
    assert f">{CAVEAT} <a" in cut
    assert f'alt="Chart of the answer, with {RIDER}"' in cut
    assert "The value before noise lies in the interval" in cut
    assert ">95 % interval</th>" in uncut
    assert "The true value lies in the interval" in uncut
    assert "oise only" not in uncut


def test_a_page_claims_no_interval_that_is_not_there(ana: Visit) -> None:
    """Beside a median, which has no interval, the sentence on intervals is of those that are there."""
    sql = "SELECT clinic, COUNT(DISTINCT patient), MEDIAN(age) FROM visits GROUP BY clinic"
    assert ana.post("/ask/visits", sql=sql, epsilon="0.5", key="both").status_code == 303
    found = ana.get("/answers/both").text
    assert "Random noise" not in found
    assert "Where an interval is shown, the true value lies in it in 95 of 100 cases." in found


def test_what_follows_for_free_is_named_too(ana: Visit) -> None:
    """The page of an answer that is owned says it as well."""
    found = ana.get(f"/ask/visits/owned?sql={quote(CUT)}").text
    assert f">{RIDER}</th>" in found
    assert CAVEAT in found


@pytest.mark.parametrize("look", ["", "?narrow=true"])
def test_a_picture_names_its_intervals(ana: Visit, look: str) -> None:
    """Whoever sees a picture alone reads what its lines are."""
    assert f"line: {RIDER}" in texts(ana, f"/answers/cut/chart.svg{look}")
    uncut = texts(ana, f"/answers/uncut/chart.svg{look}")
    assert "line: 95 % interval" in uncut
    assert "noise only" not in uncut


def test_files_name_their_intervals(ana: Visit) -> None:
    """Csv and parquet have it in the names of columns and in every row, json beside the intervals."""
    pq = pytest.importorskip("pyarrow.parquet")
    rows = list(csv.DictReader(io.StringIO(ana.get("/answers/cut/answer.csv").text)))
    table = pq.read_table(io.BytesIO(ana.get("/answers/cut/answer.parquet").content)).to_pylist()
    assert len(rows) == len(table) == 2
    for row in (*rows, *table):
        assert set(row) == {"clinic", "count", "expected_noise", "low_noise_only", "high_noise_only", "caveat"}
        assert row["caveat"] == CAVEAT
    found = ana.get("/answers/cut/answer.json").json()
    assert (found["intervals_noise_only"], found["caveat"]) == ([True], CAVEAT)


def test_files_without_a_rider_have_no_caveat(ana: Visit) -> None:
    """Where nothing can be cut, files say so by saying nothing."""
    (head, *_) = csv.reader(io.StringIO(ana.get("/answers/uncut/answer.csv").text))
    assert head == ["clinic", "units", "expected_noise", "low", "high"]
    found = ana.get("/answers/uncut/answer.json").json()
    assert (found["intervals_noise_only"], found["caveat"]) == ([False], None)


def test_a_median_is_no_bar(ana: Visit) -> None:
    """What has no interval is drawn as points, and the picture says that there is none: a bar would look sure."""
    drawn = ElementTree.fromstring(ana.get("/answers/median/chart.svg").text)
    assert "no interval" in "\n".join(drawn.itertext())
    ids = [one.get("id", "") for one in drawn.iter()]
    patches = [one for one in ids if re.fullmatch(r"patch_\d+", one)]
    bars = [one.get("id", "") for one in ElementTree.fromstring(ana.get("/answers/cut/chart.svg").text).iter()]
    assert len(patches) == len([one for one in bars if re.fullmatch(r"patch_\d+", one)]) - 2  # for two clinics
    assert "with no interval" in ana.get("/answers/median").text


def test_an_average_is_called_one(hospital: Served) -> None:
    """How far off a mean is, is an average over the noise, and no bound on it."""
    who = visit(hospital, "ben")
    asked = f"sql={quote(MEAN)}&epsilon=0.5"
    page, drawn = unescape(who.get(f"/ask/visits?{asked}").text), texts(who, f"/ask/visits/noise.svg?{asked}")
    assert "at most about" not in page + drawn
    assert "on average" in page
    assert "Error, " in drawn
    assert "on average" in drawn


@pytest.mark.slow
def test_likelihoods_are_no_odds(hospital: Served) -> None:
    """Pages and pictures call a probability one; odds are something else."""
    who = visit(hospital, "ben")
    count, plan = (
        f"sql={quote('SELECT COUNT(*) FROM visits')}&epsilon=0.5",
        "bounds=[0,9] step 1&sensitivity=1&epsilon=1",
    )
    for path in (f"/ask/visits/noise.svg?{count}", f"/plan/law.svg?{plan}"):
        assert "odds" not in texts(who, path)
        assert "probability" in texts(who, path)
    assert "odds" not in who.get(f"/plan?{plan}").text


def test_a_budget_grows_from_nothing(served: Served) -> None:
    """The bar of a budget is empty while nothing is spent, and as long as what is."""
    ben = visit(served, "ben")
    bar = re.compile(r"<meter [^>]*value=\"([^\"]*)\"")
    assert set(bar.findall(ben.get("/ask/visits").text)) == {"0"}
    assert ben.post("/ask/visits", sql=MEAN, epsilon="0.5", key="one").status_code == 303
    assert set(bar.findall(ben.get("/ask/visits").text)) == {"0.5"}
