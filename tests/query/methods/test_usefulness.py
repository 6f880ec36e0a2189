"""What would be paid for and tell nothing is refused before the charge, by what is public alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from inbounds.bounds import Bounds
from inbounds.query import Dataset, UselessQuestion
from inbounds.query.answer.boundary_remarks import AT_THE_EDGE
from inbounds.query.methods.method import guess_error
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.query.methods.usefulness import INSIST, NO_BETTER
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.hospital import OF_WARDS, PER_PATIENT, hospital

IMPOSSIBLE = [
    f"SELECT COUNT(*) {PER_PATIENT} WHERE n > 6",
    f"SELECT AVG(n) {PER_PATIENT} WHERE n = 7",
    "SELECT COUNT(*) FROM stays WHERE age > 200",
    "SELECT AVG(age) FROM stays WHERE age < 0",
    "SELECT COUNT(*) FROM stays WHERE age > 60 AND age < 30",
    "SELECT AVG(CASE WHEN age > 200 THEN 1 ELSE 0 END) FROM stays",
    "SELECT ward, PROPORTION(age > 200) FROM stays GROUP BY ward",
    "SELECT PROPORTION(age < 30) FROM stays WHERE age > 60",
    "SELECT SUM(CASE WHEN age > 200 THEN 1 ELSE 0 END) FROM stays",
    "SELECT COUNT(CASE WHEN age > 200 THEN 1 END) FROM stays",
    "SELECT AVG(CASE WHEN age > 200 THEN age END) FROM stays",
    "SELECT SUM(2 * CASE WHEN age > 200 THEN 5 WHEN age < 0 THEN 4 ELSE 3 END) FROM stays",
    "SELECT MEDIAN(n) FROM (SELECT patient, COUNT(*) AS n FROM stays WHERE age > 200 GROUP BY patient) AS t",
    f"SELECT COUNT(*) {OF_WARDS} WHERE w.beds > 45",
    "SELECT COUNT(*) FROM stays s LEFT JOIN wards w ON s.ward = w.ward WHERE w.beds > 45",
    f"SELECT COUNT(*) {OF_WARDS} WHERE w.beds < 20 AND w.opened > '2020-01-02'",
]

POSSIBLE = [
    f"SELECT COUNT(*) {PER_PATIENT} WHERE n >= 5",
    "SELECT COUNT(*) FROM stays WHERE age >= 0",
    "SELECT COUNT(*) FROM stays WHERE age < 200",
    "SELECT COUNT(*) FROM stays WHERE age > 200 OR ward = 'w1'",
    "SELECT COUNT(*) FROM stays WHERE age IS NULL",
    "SELECT SUM(CASE WHEN age > 200 THEN 0 WHEN age > 60 THEN 1 ELSE 0 END) FROM stays",
    "SELECT SUM(CASE WHEN age < 0 THEN 0 ELSE age END) FROM stays",
    "SELECT AVG(CASE WHEN age > 120 THEN 120 ELSE age END) FROM stays",
    "SELECT SUM(CASE WHEN age > 200 THEN 0 ELSE age END) FROM stays",
    "SELECT SUM(age + CASE WHEN age > 200 THEN 1 ELSE 0 END) FROM stays",
    f"SELECT COUNT(*) {OF_WARDS} WHERE w.beds >= 45",
    "SELECT COUNT(*) FROM stays s LEFT JOIN wards w ON s.ward = w.ward WHERE w.beds > 45 OR w.beds IS NULL",
    "SELECT COUNT(*) FROM stays s LEFT JOIN wards w ON s.ward = w.ward WHERE w.beds IS NULL AND s.ward = 'w1'",
]


@pytest.fixture
def stays(tmp_path: Path) -> Iterator[Dataset]:
    """A hospital whose wards are public."""
    with hospital(tmp_path) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("sql", IMPOSSIBLE)
def test_a_condition_that_no_row_can_meet_is_refused_before_the_charge(stays: Dataset, sql: str) -> None:
    """Nothing is charged for it, its explanation says so, and who insists pays and is answered."""
    with pytest.raises(UselessQuestion, match="no row can meet") as refused:
        stays.sql(sql).ask(1, analyst="ana")
    assert str(refused.value).endswith(INSIST)
    assert stays.ledger.balance("stays").spent == 0
    told = stays.sql(sql).explain(1)
    assert told.useless is not None
    assert str(refused.value).startswith(told.useless)
    assert "no row can meet" in " ".join(str(told).split())
    assert stays.sql(sql).ask(1, analyst="ana", force=True).epsilon == 1
    assert stays.ledger.balance("stays").spent == 1


@pytest.mark.slow
@pytest.mark.parametrize("sql", POSSIBLE)
def test_what_a_row_can_meet_is_answered(stays: Dataset, sql: str) -> None:
    """A condition that some row of some table meets, or is true for all of them, is no reason to refuse."""
    assert stays.sql(sql).ask(1, analyst="ana").epsilon == 1
    assert stays.sql(sql).explain(1).useless is None


def test_a_measured_case_that_compares_with_what_no_value_can_be_is_warned_of(stays: Dataset) -> None:
    """It is informative through its ELSE, so it is answered, and says that values are clipped before."""
    sql = "SELECT SUM(CASE WHEN age > 200 THEN 0 ELSE age END) FROM stays"
    (told,) = stays.sql(sql).ask(1, analyst="ana").warnings
    assert told.startswith("age is clamped to [0, 120] step 1 before comparisons")


def test_the_remedy_of_a_clipped_count_works_when_typed(stays: Dataset) -> None:
    """Where the question itself clips a value, the refusal says how to clip it later, and that is answered."""
    with pytest.raises(UselessQuestion) as refused:
        stays.sql(IMPOSSIBLE[0]).ask(1, analyst="ana")
    later = "LEAST(COUNT(*), 12) AS n"
    assert f"clip it later, as in {later}" in str(refused.value)
    sql = IMPOSSIBLE[0].replace("COUNT(*) AS n", later)
    assert stays.sql(sql).ask(50, analyst="ana").value == pytest.approx(100, abs=20)  # every patient has nine


AT_THE_END = [
    (f"SELECT COUNT(*) {PER_PATIENT} WHERE n > 5", "n", "clip it later, as in LEAST(COUNT(*), 10) AS n"),
    (
        f"SELECT COUNT(*) {PER_PATIENT.replace('COUNT(*)', 'LEAST(COUNT(*), 6)')} WHERE n > 6",
        "n",
        "clip it later, as in LEAST(COUNT(*), 12) AS n",
    ),
    (f"SELECT COUNT(*) {PER_PATIENT} WHERE n < 0", "n", "compare n with what it can be;"),
    ("SELECT COUNT(*) FROM stays WHERE age > 120", "age", "compare age with what it can be;"),
    ("SELECT COUNT(*) FROM stays WHERE age < 0", "age", "compare age with what it can be;"),
]


@pytest.mark.parametrize(("sql", "name", "remedy"), AT_THE_END)
def test_a_comparison_at_the_very_end_says_that_values_are_clipped(
    stays: Dataset, sql: str, name: str, remedy: str
) -> None:
    """Above the greatest value and below the least is nothing after clipping: the refusal says so, and a remedy."""
    with pytest.raises(
        UselessQuestion, match=f"values of {name} are clipped to .* before they are compared"
    ) as refused:
        stays.sql(sql).ask(1, analyst="ana")
    assert remedy in str(refused.value)
    assert stays.sql(sql).explain(1).warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 900])
def test_a_refusal_is_the_same_whatever_the_rows_hold(tmp_path: Path, rows: int) -> None:
    """Whether it is refused, and the words, come from the contract, public tables, question and epsilon alone."""
    with hospital(tmp_path, rows=rows) as stays:
        told = [stays.sql(sql).explain(1).useless for sql in (*IMPOSSIBLE, *POSSIBLE)]
    assert [one is None for one in told] == [False] * len(IMPOSSIBLE) + [True] * len(POSSIBLE)


def test_what_was_charged_is_answered_without_force(stays: Dataset) -> None:
    """A request that was charged before gives its answer again, also to whoever no longer insists."""
    query = stays.sql(IMPOSSIBLE[0])
    first = query.ask(1, analyst="ana", request_id="r1", force=True)
    assert query.ask(1, analyst="ana", request_id="r1") == first
    with pytest.raises(UselessQuestion):
        query.ask(1, analyst="ana", request_id="r2")
    assert stays.ledger.balance("stays").spent == 1


def test_a_refusal_quotes_the_pattern_that_was_typed(stays: Dataset) -> None:
    """A pattern that no key fits is refused in the words of whoever asked."""
    with pytest.raises(UselessQuestion, match="no row can meet ward LIKE 'z%', whatever"):
        stays.sql("SELECT COUNT(*) FROM stays WHERE ward LIKE 'z%'").ask(1, analyst="ana")


def test_a_remedy_is_not_itself_refused(stays: Dataset) -> None:
    """What is so far beyond that nothing can be clipped there is not told to be clipped later."""
    with pytest.raises(UselessQuestion, match="compare n with what it can be; to pay"):
        stays.sql(f"SELECT COUNT(*) {PER_PATIENT} WHERE n > 1e30").ask(1, analyst="ana")


# No better than a guess.

COLUMNS = '[columns.size]\nbounds = "[0, 10]"\n[columns.place]\nkeys = ["a", "b"]\n'
TYPES = "who BIGINT, size DOUBLE, place VARCHAR"

GUESSES = [
    ("SELECT COUNT(*) FROM visits WHERE size > 5", "0.002", "2"),
    ("SELECT AVG(size) FROM visits", "0.002", "2"),
    ("SELECT AVG(size) FROM visits WHERE place = 'a'", "0.002", "2"),
    ("SELECT STDDEV(size) FROM visits", "0.002", "2"),
    ("SELECT place, VARIANCE(size) FROM visits GROUP BY place", "0.002", "2"),
    ("SELECT COUNT(*), SUM(size), AVG(size) FROM visits", "0.002", "2"),
    ("SELECT place, COUNT(*) FROM visits GROUP BY place", "0.002", "2"),
    ("SELECT MEDIAN(size) FROM visits", "0.002", "2"),
]
OF_KEYS = ("SELECT COUNT(DISTINCT place) FROM visits", "0.002", "2")
"""How many there can be is public, whatever the size of the table."""


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "little", "enough"), [*GUESSES, OF_KEYS])
def test_what_is_expected_to_be_no_better_than_a_guess_is_refused(
    tmp_path: Path, sql: str, little: str, enough: str
) -> None:
    """Where the number of units is public, noise as wide as a guess is refused; a larger epsilon is the remedy."""
    with Playground(contract(COLUMNS, units=100), TYPES, tmp_path / "ledger.db") as playground:
        playground.fill([(number, number % 10, "ab"[number % 2]) for number in range(100)])
        query = playground.dataset.sql(sql)
        with pytest.raises(UselessQuestion, match=f"{NO_BETTER}.*ask for a larger epsilon"):
            query.ask(little, analyst="ana")
        assert playground.dataset.ledger.balance("visits").spent == 0
        assert query.ask(enough, analyst="ana").epsilon == 2
        assert query.ask(little, analyst="ana", force=True).rows


def test_a_guess_beside_what_is_none_is_named_with_its_part_of_epsilon(tmp_path: Path) -> None:
    """The refusal says which measure is useless, at which part of epsilon, and to leave it out, which helps."""
    with Playground(contract(COLUMNS, units=1000), TYPES, tmp_path / "ledger.db") as playground:
        both = playground.dataset.sql("SELECT COUNT(*), COUNT(DISTINCT place) FROM visits")
        with pytest.raises(UselessQuestion) as refused:
            both.ask("0.2", analyst="ana")
        assert str(refused.value).startswith("with a share of 0.1 of epsilon, COUNT(DISTINCT place) is expected")
        assert "leave it out, or ask for a larger epsilon" in str(refused.value)
        assert playground.dataset.sql("SELECT COUNT(*) FROM visits").ask("0.2", analyst="ana").epsilon > 0


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "little", "enough"), GUESSES)
def test_where_a_table_of_any_size_is_possible_nothing_is_surely_a_guess(
    tmp_path: Path, sql: str, little: str, enough: str
) -> None:
    """A table may be so large that little epsilon is enough: then it is said of how many rows it is not."""
    with Playground(contract(COLUMNS), TYPES, tmp_path / "ledger.db") as playground:
        query = playground.dataset.sql(sql)
        told = query.explain(little)
        assert told.useless is None
        assert query.explain(enough).warnings == ()
        of_rows = any(word in sql for word in ("AVG", "STDDEV", "VARIANCE", "MEDIAN")) and "COUNT" not in sql
        assert any(one.startswith("With fewer than about ") for one in told.warnings) == of_rows


def test_a_guess_is_as_far_off_as_it_is_said_to_be() -> None:
    """The middle of what is possible is off by a quarter of the range on average, and by more on few points."""
    for last in range(1, 40):
        points = range(last + 1)
        best = min(sum(abs(one - guess) for one in points) / len(points) for guess in points)
        assert guess_error(Bounds(0, last, step=1)) == pytest.approx(best)
    assert guess_error(Bounds(-2, 6)) == 2
    assert guess_error(Bounds(0, None)) == float("inf")


# Answers at the end of what is possible.


def test_an_answer_that_noise_pushed_to_the_end_says_so(stays: Dataset) -> None:
    """A deviation of 0.0 is noise that is larger than the answer, and the answer says so, in which groups."""
    query = stays.sql("SELECT ward, STDDEV(age) FROM stays GROUP BY ward")
    for _ in range(60):  # one in 10^9 runs has no such answer: each has one with odds of a third and more
        answer = query.ask(1, analyst="ana")
        ends = [
            ward for (ward, value), (learnt,) in zip(answer.rows, answer.learnt, strict=True) if learnt and value == 0
        ]
        told = [one for one in answer.remarks if AT_THE_EDGE in one]
        assert bool(ends) == bool(told)
        if ends:
            (one,) = told
            assert one.startswith(f"STDDEV_SAMP(age) is 0.0 in {len(ends)} of 8 groups ({'; '.join(ends[:3])}")
            assert one in " ".join(str(answer).split())
            assert one not in answer.warnings, "which are known before anything is released"
            return
    raise AssertionError("no answer was at the end")


@pytest.mark.parametrize("bounds", ["[0, 1] step 1", "[0, 10] | [990, 1000] step 1", "[0, 10] step 1"])
def test_a_quantile_is_a_guess_only_if_its_own_law_says_so(tmp_path: Path, bounds: str) -> None:
    """Of few values, and of those with a gap between them, an even draw is hardly worse than a guess: none is refused.

    Exact: over all true values, with all rows at one of them, no refused law is nearer than the middle.
    """
    columns = f'[columns.size]\nbounds = "{bounds}"\n'
    with Playground(
        contract(columns, unit="row", units=10), "who BIGINT, size DOUBLE", tmp_path / "l.db"
    ) as playground:
        for epsilon in ("0.001", "0.01", "0.05", "0.057", "0.1"):
            plan = playground.dataset.sql("SELECT MEDIAN(size) FROM visits").plan(epsilon)
            answering = plan.answering
            assert isinstance(answering, QuantileByRank)
            pieces = enumerate(pairwise(answering.buckets.before))
            values = np.array([place for place, (one, other) in pieces if other > one])  # each bucket is one step
            errors = np.abs(np.subtract.outer(values, values))
            weights = np.where(errors == 0, 1.0, np.exp(-float(answering.epsilon) * 10 / 2))
            error = float(((weights * errors).sum(1) / weights.sum(1)).mean())
            guess = float(np.abs(values - values[-1] / 2).mean())
            if answering.is_guess(10):
                assert error >= guess * (1 - 1e-9)
            elif len(values) == 2:
                assert error < guess
