"""What is refused over related tables says why, and what it tells to write is answered when it is typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from tests.helpers.infirmary.contract import read_only

COUNT = "SELECT COUNT(*) FROM "

TYPED = [
    (f"{COUNT}stays JOIN wards", "JOIN needs ON and what is equal, or USING; for every pair write CROSS JOIN",
     f"{COUNT}stays CROSS JOIN wards"),
    (f"{COUNT}stays s LEFT JOIN measurements m", "LEFT JOIN needs ON",
     f"{COUNT}stays s LEFT JOIN measurements m ON m.stay_id = s.stay_id"),
    (f"{COUNT}stays s, measurements m", "join it ON s.stay_id = m.stay_id",
     f"{COUNT}stays s JOIN measurements m ON s.stay_id = m.stay_id"),
    (f"{COUNT}measurements a JOIN measurements b ON a.kind = b.kind", "join it ON a.stay_id = b.stay_id",
     f"{COUNT}measurements a JOIN measurements b ON a.stay_id = b.stay_id"),
    (f"{COUNT}measurements m JOIN prescriptions r ON m.taken = r.started", "join it ON r.taker = m.patient_id",
     f"{COUNT}measurements m JOIN prescriptions r ON r.taker = m.patient_id"),
    (f"{COUNT}stays s JOIN stays s ON s.stay_id = s.stay_id", "two tables are called s; give one of them another name",
     f"{COUNT}stays s JOIN stays AS b ON s.stay_id = b.stay_id"),
    (f"{COUNT}stays s WHERE EXISTS (SELECT 1 FROM stays s WHERE s.urgent = TRUE)",
     "two tables are called s, so call the inner one b, and write inside it s.patient_id = b.patient_id",
     f"{COUNT}stays s WHERE EXISTS (SELECT 1 FROM stays b WHERE b.urgent = TRUE AND s.patient_id = b.patient_id)"),
    (f"{COUNT}stays s WHERE EXISTS (SELECT 1 FROM prescriptions r WHERE r.dose > 3)",
     "write inside it s.patient_id = r.taker",
     f"{COUNT}stays s WHERE EXISTS (SELECT 1 FROM prescriptions r WHERE r.dose > 3 AND s.patient_id = r.taker)"),
    (f"{COUNT}stays s JOIN measurements m ON s.stay_id = m.stay_id WHERE stay_id IS NULL",
     "stay_id may be s.stay_id or m.stay_id; write one of them",
     f"{COUNT}stays s JOIN measurements m ON s.stay_id = m.stay_id WHERE s.stay_id IS NULL"),
    (f"{COUNT}stays WHERE discharged > admitted + INTERVAL '1' MONTH", "write INTERVAL '30' DAY",
     f"{COUNT}stays WHERE discharged > admitted + INTERVAL '30' DAY"),
    (f"{COUNT}stays WHERE admitted > TIMESTAMP '2026-02-03 10:00'", "holds dates, so it cannot be compared with "
     "'2026-02-03 10:00:00'; write a date like", f"{COUNT}stays WHERE admitted > DATE '2026-02-03'"),
    ("SELECT COUNT(DISTINCT stay_id) FROM measurements WHERE value > 90",
     "write SELECT COUNT(*) FROM (SELECT DISTINCT stay_id FROM measurements WHERE value > 90) AS t",
     f"{COUNT}(SELECT DISTINCT stay_id FROM measurements WHERE value > 90) AS t"),
    ("SELECT kind, COUNT(DISTINCT m.stay_id) FROM stays s JOIN measurements m USING (stay_id) GROUP BY kind",
     "write SELECT kind, COUNT(*) FROM (SELECT DISTINCT kind, m.stay_id FROM stays AS s JOIN measurements AS m USING "
     "(stay_id)) AS t GROUP BY kind",
     "SELECT kind, COUNT(*) FROM (SELECT DISTINCT kind, m.stay_id FROM stays AS s JOIN measurements AS m USING "
     "(stay_id)) AS t GROUP BY kind"),
    (f"{COUNT}stays a JOIN stays b ON a.patient_id = b.patient_id AND a.stay_id < b.stay_id",
     "identifiers have no order; write a.stay_id <> b.stay_id",
     f"{COUNT}stays a JOIN stays b ON a.patient_id = b.patient_id AND a.stay_id <> b.stay_id"),
    (f"{COUNT}stays s WHERE urgent = TRUE OR EXISTS (SELECT 1 FROM measurements m JOIN stays t USING (stay_id) WHERE "
     "m.stay_id = s.stay_id)",
     "LEFT JOIN (SELECT key, COUNT(*) AS n FROM … GROUP BY key) AS h ON …; here write h.n IS NOT NULL",
     f"{COUNT}stays s LEFT JOIN (SELECT stay_id, COUNT(*) AS n FROM measurements JOIN stays USING (stay_id) GROUP BY "
     "stay_id) AS h ON h.stay_id = s.stay_id WHERE s.urgent = TRUE OR h.n IS NOT NULL"),
    (f"{COUNT}stays s WHERE (SELECT COUNT(*) FROM stays t WHERE t.patient_id = s.patient_id AND t.cost > s.cost) > 1",
     "a subquery about the same person's rows takes one table",
     f"{COUNT}stays s WHERE s.patient_id IN (SELECT patient_id FROM stays GROUP BY patient_id HAVING COUNT(*) > 1)"),
    ("SELECT AVG(x) FROM (SELECT MAX(value) OVER (PARTITION BY stay_id) AS x FROM measurements) AS t",
     "is not supported over rows; write (SELECT stay_id, MAX(value) AS x FROM … GROUP BY stay_id) AS t",
     "SELECT AVG(x) FROM (SELECT stay_id, MAX(value) AS x FROM measurements GROUP BY stay_id) AS t"),
    (f"{COUNT}stays s JOIN (SELECT ward, MAX(cost) AS x FROM stays GROUP BY ward) AS t ON s.ward = t.ward",
     "each row of this subquery must belong to one patient_id; grouping by ward alone would mix people; write GROUP BY "
     "patient_id, ward",
     f"{COUNT}stays s JOIN (SELECT patient_id, ward, MAX(cost) AS x FROM stays GROUP BY patient_id, ward) AS t "
     "ON s.patient_id = t.patient_id"),
    ("SELECT AVG(x) FROM (SELECT taker, SUM(dose) / COUNT(*) AS x FROM prescriptions GROUP BY taker) AS t",
     "divides by a value that may be zero; write AVG(dose)",
     "SELECT AVG(x) FROM (SELECT taker, AVG(dose) AS x FROM prescriptions GROUP BY taker) AS t"),
    (f"{COUNT}stays WHERE 1 = 0", "1 = 0 is true of no row", f"{COUNT}stays WHERE 1 = 1"),
    ("WITH a AS (SELECT * FROM stays) SELECT COUNT(*) FROM patients", "a is not used; leave it out",
     f"{COUNT}patients"),
    (f"{COUNT}(SELECT ward FROM stays WHERE urgent = TRUE UNION ALL SELECT ward FROM stays WHERE cost > 9) AS t",
     "got UNION; ask about each SELECT in a query of its own",
     f"{COUNT}stays WHERE urgent = TRUE OR cost > 9"),
    (f"{COUNT}stays WHERE (stay_id, patient_id) NOT IN (SELECT stay_id, patient_id FROM stays)",
     "NOT IN compares one column; write NOT EXISTS",
     f"{COUNT}stays s WHERE NOT EXISTS (SELECT * FROM stays t WHERE t.stay_id = s.stay_id)"),
    (f"{COUNT}(SELECT s.* FROM stays s JOIN measurements m USING (stay_id)) AS t WHERE kind = 'heat'",
     "there is no column kind",
     f"{COUNT}(SELECT s.*, m.kind FROM stays s JOIN measurements m USING (stay_id)) AS t WHERE kind = 'heat'"),
    ("SELECT nobody, COUNT(*) FROM stays GROUP BY nobody, stay_id", "GROUP BY stay_id would show what belongs to",
     "SELECT n, COUNT(*) FROM (SELECT stay_id, COUNT(*) AS n FROM stays GROUP BY stay_id) AS t GROUP BY n"),
    ("SELECT AVG(wrong) FROM measurements", "it has number, kind, value, taken, stay_id, patient_id",
     "SELECT AVG(value) FROM measurements"),
    (f"{COUNT}patients p LEFT JOIN prescriptions r ON r.taker = p.patient_id WHERE r.taker NOT IN (SELECT patient_id "
     "FROM stays)", "r.taker is missing in rows without a match, which are left out here; write JOIN in place of LEFT",
     f"{COUNT}patients p JOIN prescriptions r ON r.taker = p.patient_id WHERE r.taker NOT IN (SELECT patient_id "
     "FROM stays)"),
    (f"{COUNT}patients WHERE patient_id IN (SELECT r.taker FROM patients p LEFT JOIN prescriptions r ON "
     "r.taker = p.patient_id)", "write JOIN in place of LEFT JOIN for r",
     f"{COUNT}patients WHERE patient_id IN (SELECT r.taker FROM patients p JOIN prescriptions r ON "
     "r.taker = p.patient_id)"),
]  # fmt: skip
"""What is refused, what is told, and what that tells to write."""


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The infirmary, whose private tables are nowhere: no refusal needs a row."""
    with read_only(tmp_path_factory.mktemp("nowhere")) as found:
        yield found


@pytest.mark.parametrize(("sql", "told", "typed"), TYPED, ids=[sql for sql, _, _ in TYPED])
def test_a_remedy_works_when_it_is_typed(nowhere: Dataset, sql: str, told: str, typed: str) -> None:
    """A refusal names the way out in the names of the question, and that is a question that can be asked."""
    with pytest.raises(InvalidQuestion) as refusal:
        nowhere.sql(sql)
    assert told in str(refusal.value)
    assert nowhere.sql(typed).questions
