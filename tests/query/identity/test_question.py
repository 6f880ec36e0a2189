"""One text for all spellings of a question, and another one for each other question."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations

import pytest

from inbounds.errors import InvalidQuestion, LedgerConflict
from inbounds.query import Dataset, column
from inbounds.query.answer.kept_answer import write_kept
from inbounds.query.expressions.expression import case
from inbounds.query.identity.question import identity_of
from inbounds.query.query import Query
from inbounds.query.question.question import sql_of
from tests.helpers.spellings.hospital import opened
from tests.helpers.spellings.questions import ASKED


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """Return the hospital."""
    with opened(tmp_path_factory.mktemp("identity")) as found:
        yield found


def text(query: Query) -> str:
    """Return the one text of a query."""
    return identity_of(query.questions)


def test_python_and_sql_ask_one_question(dataset: Dataset) -> None:
    """What is put together in Python is the question that SQL asks, however both are spelled."""
    old, women = column("age") >= 65, column("sex") == "f"
    asked = [
        dataset.count().where(old & women),
        dataset.count().where(women).where(old),
        dataset.count().where(~(~old | ~women)),
        dataset.sql("SELECT COUNT(*) FROM visits WHERE sex = 'f' AND 65 <= age"),
    ]
    assert len({text(query) for query in asked}) == 1


def test_conditions_inside_a_column_have_one_form(dataset: Dataset) -> None:
    """The tests of a CASE may be spelled in any way, too."""
    first = case((column("sex").is_in(["f"]) & (column("age") > 5), column("cost")), otherwise=0)
    second = case((~((column("age") <= 5) | (column("sex") != "f")), column("cost")), otherwise=0)
    assert text(dataset.sum(first)) == text(dataset.sum(second))


APART = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM patients",
    "SELECT COUNT(DISTINCT patient_id) FROM visits",
    "SELECT COUNT(DISTINCT ward) FROM visits",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    "SELECT ward, sex, COUNT(*) FROM visits GROUP BY ward, sex",
    "SELECT ward, sex, COUNT(*) FROM visits GROUP BY ROLLUP (ward, sex)",
    "SELECT ward, sex, COUNT(*) FROM visits GROUP BY CUBE (ward, sex)",
    "SELECT sex, ward, COUNT(*) FROM visits GROUP BY sex, ward",
    "SELECT COUNT(*) FROM visits WHERE age < 65",
    "SELECT COUNT(*) FROM visits WHERE age <= 65",
    "SELECT COUNT(*) FROM visits WHERE NOT age < 65 OR age IS NULL",
    "SELECT COUNT(*) FROM visits WHERE ward = 'surgery'",
    "SELECT COUNT(*) FROM visits WHERE ward <> 'surgery'",
    "SELECT COUNT(*) FROM visits WHERE ward <> 'surgery' OR ward IS NULL",
    "SELECT COUNT(*) FROM visits WHERE ward = 'surgery' AND sex = 'f'",
    "SELECT COUNT(*) FROM visits WHERE ward = 'surgery' OR sex = 'f'",
    "SELECT SUM(cost) FROM visits",
    "SELECT AVG(cost) FROM visits",
    "SELECT SUM(cost), AVG(cost) FROM visits",
    "SELECT HISTOGRAM(cost, 5) FROM visits",
    "SELECT HISTOGRAM(cost, 6) FROM visits",
    "SELECT CDF(cost, 6) FROM visits",
    "SELECT AVG(readmitted) FROM visits",
    "SELECT PROPORTION(readmitted) FROM visits",
    "SELECT MEDIAN(cost) FROM visits",
    "SELECT QUANTILE(cost, 0.6) FROM visits",
    "SELECT smoker, COUNT(*) FROM visits JOIN patients USING (patient_id) GROUP BY smoker",
    "SELECT smoker, COUNT(*) FROM patients LEFT JOIN visits USING (patient_id) GROUP BY smoker",
    "SELECT p.sex, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY 1",
    "SELECT v.sex, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY 1",
    "SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) WHERE p.sex = 'f'",
    "SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) WHERE v.sex = 'f'",
    "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id)",
    "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id)",
    "SELECT COUNT(*) FROM patients p WHERE EXISTS "
    "(SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND v.sex = 'f')",
    "SELECT COUNT(*) FROM patients p WHERE p.sex = 'f' AND EXISTS "
    "(SELECT * FROM visits v WHERE v.patient_id = p.patient_id)",
    "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t",
    "SELECT AVG(n) FROM (SELECT patient_id, MAX(age) AS n FROM visits GROUP BY patient_id) t",
    "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE sex = 'f' GROUP BY patient_id) t",
    "SELECT AVG(n) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) t",
    "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t WHERE n > 2",
    "SELECT building, COUNT(*) FROM visits JOIN wards USING (ward) GROUP BY building",
    "SELECT p.sex, COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id AND v.ward = 'surgery' "
    "GROUP BY 1",
    "SELECT p.sex, COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id WHERE v.ward = 'surgery' "
    "GROUP BY 1",
    "SELECT COUNT(*) FROM visits LEFT JOIN wards ON visits.ward = wards.ward AND beds > 20",
    "SELECT COUNT(*) FROM visits LEFT JOIN wards ON visits.ward = wards.ward WHERE beds > 20",
    "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS "
    "(SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND p.sex = 'f')",
    "SELECT COUNT(*) FROM patients p WHERE p.sex = 'f' AND NOT EXISTS "
    "(SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)",
    "SELECT AVG(x) FROM (SELECT patient_id, ARG_MIN(n, m) AS x FROM (SELECT patient_id, ward, COUNT(*) AS n, "
    "MAX(stay) AS m FROM visits GROUP BY patient_id, ward) t GROUP BY patient_id) u",
    "SELECT AVG(x) FROM (SELECT patient_id, ARG_MIN(n, m) AS x FROM (SELECT patient_id, ward, COUNT(*) AS n, "
    "MAX(age) AS m FROM visits GROUP BY patient_id, ward) t GROUP BY patient_id) u",
    "SELECT AVG(x) FROM (SELECT a.patient_id, ARG_MIN(a.stay, b.admitted) AS x FROM visits a JOIN visits b ON "
    "a.patient_id = b.patient_id AND a.stay < b.stay GROUP BY a.patient_id) t",
    "SELECT AVG(x) FROM (SELECT a.patient_id, ARG_MIN(b.stay, b.admitted) AS x FROM visits a JOIN visits b ON "
    "a.patient_id = b.patient_id AND a.stay < b.stay GROUP BY a.patient_id) t",
]  # fmt: skip


def test_other_questions_have_other_texts(dataset: Dataset) -> None:
    """Questions that mean something else never have one text."""
    texts = {sql: text(dataset.sql(sql)) for sql in APART}
    assert [(a, b) for a, b in combinations(APART, 2) if texts[a] == texts[b]] == []


def numbers(dataset: Dataset, sql: str) -> list[float]:
    """Return what is released, with next to no noise."""
    rows = dataset.sql(sql).ask(1000, analyst="ana").released.rows
    return [float(cell) for row in rows for cell in row if isinstance(cell, int | float)]


def test_one_text_is_one_truth(dataset: Dataset) -> None:
    """Questions of the corpus that have one text release the same numbers."""
    by_text: dict[str, set[str]] = {}
    for asked in ASKED:
        try:
            query = dataset.sql(asked.sql)
        except InvalidQuestion:
            continue
        by_text.setdefault(text(query), set()).add(sql_of(query.questions))
    several = [sorted(texts) for texts in by_text.values() if len(texts) > 1]
    assert several
    for first, *others in several:
        released = numbers(dataset, first)
        assert all(numbers(dataset, other) == pytest.approx(released, rel=0.02, abs=0.02) for other in others), first


def test_an_answer_is_found_however_it_is_asked_for(dataset: Dataset) -> None:
    """A question asked again in another spelling has the answer that was kept, under the names that it is asked by."""
    first = dataset.sql("SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t")
    again = dataset.sql("SELECT AVG(m) FROM (SELECT patient_id, COUNT(*) AS m FROM visits GROUP BY patient_id) u")
    kept = first.ask(1, analyst="ana", request_id="in another spelling")
    found = again.ask(1, analyst="ana", request_id="in another spelling")
    assert (kept.columns, found.columns) == (("mean_n",), ("mean_m",))
    assert (kept.rows, found.rows) == (found.rows, kept.rows)


def charge_as_before(dataset: Dataset, query: Query, request_id: str) -> None:
    """Charge a question as it was when its text was the one that is shown."""
    facts = [dataset.identity, sql_of(query.questions), "1", "None"]
    receipt = dataset.ledger.charge(
        dataset.name,
        "ana",
        1,
        request_id=request_id,
        fingerprint=sha256("\0".join(facts).encode()).hexdigest(),
        terms=dataset.terms,
    )
    dataset.ledger.answered(receipt, write_kept(query.ask(1, analyst="ana").released))


def test_an_answer_of_before_is_still_found(dataset: Dataset) -> None:
    """An answer kept by an earlier version is found by whoever asks as it was asked then, and by nobody else."""
    asked = dataset.sql("SELECT COUNT(*) FROM visits WHERE sex = 'f' AND age >= 65")
    charge_as_before(dataset, asked, "of before")
    spent = dataset.ledger.balance(dataset.name, "ana").spent
    asked.ask(1, analyst="ana", request_id="of before")
    assert dataset.ledger.balance(dataset.name, "ana").spent == spent
    with pytest.raises(LedgerConflict, match="another question"):
        dataset.count().where("sex = 'm'").ask(1, analyst="ana", request_id="of before")


def test_sums_follow_from_answers_in_another_spelling(dataset: Dataset) -> None:
    """A part of a table that is owned follows from it, whichever way its conditions are spelled."""
    owned = dataset.sql("SELECT sex, smoker, COUNT(*) FROM patients WHERE NOT birth_year < 1950 GROUP BY ROLLUP(1, 2)")
    owned.ask(1, analyst="bea")
    part = dataset.sql(
        "SELECT sex, COUNT(*) FROM patients WHERE 1950 <= birth_year AND NOT birth_year < 1950 GROUP BY 1"
    )
    assert part.owned("bea") is not None
