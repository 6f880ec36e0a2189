"""What cannot be asked of the infirmary, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """Why a question is refused."""

    ACROSS_UNITS = "rows of two patients meet in one"
    OTHERS_ROWS = "a row is kept, left out or changed by rows of other patients"
    WINDOW = "a window looks at rows of several patients"
    SHOWS_UNITS = "the answer would show a patient, a stay, or a text that somebody wrote"
    PUBLIC = "it is about public tables only"

    @property
    def words(self) -> tuple[str, ...]:
        """What a message says that gives this reason: one of these."""
        return WORDS[self]


WORDS = {
    Reason.ACROSS_UNITS: ("could belong to two units", "nothing says which rows", "FULL JOIN"),
    Reason.OTHERS_ROWS: (
        "other people's rows", "could belong to two units", "would mix people", "chosen by private rows",
        "would show whether stays has a match", "a subquery is not supported here",
    ),
    Reason.WINDOW: ("looks at other people's rows", "looks at single rows", "rows are never shown"),
    Reason.SHOWS_UNITS: ("would show", "rows are never shown", "is the unit", "is free text", "identifies rows"),
    Reason.PUBLIC: ("public",),
}  # fmt: skip


@dataclass(frozen=True)
class Refused:
    """A question that is refused."""

    sql: str
    reason: Reason


ACROSS_UNITS = [
    "SELECT COUNT(*) FROM stays a JOIN stays b ON a.ward = b.ward",
    "SELECT COUNT(*) FROM stays a JOIN stays b ON a.ward = b.ward AND a.admitted = b.admitted",
    "SELECT COUNT(*) FROM stays a, stays b WHERE a.diagnosis = b.diagnosis AND a.patient_id <> b.patient_id",
    "SELECT COUNT(*) FROM stays CROSS JOIN prescriptions",
    "SELECT COUNT(*) FROM stays, measurements",
    "SELECT COUNT(*) FROM stays JOIN measurements ON stays.stay_id < measurements.stay_id",
    "SELECT COUNT(*) FROM stays JOIN measurements ON stays.admitted = measurements.taken",
    "SELECT COUNT(*) FROM patients a JOIN patients b ON a.region = b.region",
    "SELECT COUNT(*) FROM prescriptions a JOIN prescriptions b USING (drug)",
    "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id OR a.ward = b.ward",
    "SELECT COUNT(*) FROM patients p JOIN stays s ON p.patient_id = s.patient_id + 1",
    "SELECT COUNT(*) FROM stays s JOIN patients p ON s.stay_id = p.patient_id",
    "SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code JOIN stays t ON t.ward = w.code",
    "SELECT COUNT(*) FROM stays FULL JOIN prescriptions ON stays.admitted = prescriptions.started",
]
OTHERS_ROWS = [
    "SELECT COUNT(*) FROM stays WHERE cost > (SELECT AVG(cost) FROM stays)",
    "SELECT COUNT(*) FROM stays s WHERE cost > (SELECT AVG(cost) FROM stays t WHERE t.ward = s.ward)",
    "SELECT COUNT(*) FROM patients WHERE weight > (SELECT MAX(dose) FROM prescriptions)",
    "SELECT COUNT(*) FROM stays a WHERE EXISTS (SELECT * FROM stays b WHERE b.ward = a.ward AND b.cost > a.cost)",
    "SELECT COUNT(*) FROM stays a WHERE NOT EXISTS (SELECT * FROM stays b WHERE b.admitted = a.admitted "
    "AND b.patient_id <> a.patient_id)",
    "SELECT COUNT(*) FROM stays WHERE ward IN (SELECT ward FROM stays GROUP BY ward HAVING COUNT(*) > 100)",
    "SELECT COUNT(*) FROM prescriptions WHERE drug IN (SELECT drug FROM prescriptions WHERE dose > 400)",
    "SELECT COUNT(*) FROM stays WHERE admitted = (SELECT MIN(admitted) FROM stays)",
    "SELECT COUNT(*) FROM stays WHERE EXISTS (SELECT * FROM prescriptions WHERE dose > 400)",
    "SELECT COUNT(*) FROM stays JOIN (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) AS t USING (ward)",
    "SELECT AVG(n) FROM stays, (SELECT diagnosis, COUNT(*) AS n FROM stays GROUP BY diagnosis) AS t",
    "SELECT COUNT(*) FROM stays s JOIN (SELECT ward, AVG(cost) AS usual FROM stays GROUP BY ward) AS t "
    "ON s.ward = t.ward WHERE s.cost > t.usual",
    "SELECT COUNT(*) FROM wards WHERE code IN (SELECT ward FROM stays)",
    "SELECT ward_name, beds FROM wards w WHERE beds < (SELECT COUNT(*) FROM stays s WHERE s.ward = w.code)",
    "SELECT COUNT(*) FROM wards LEFT JOIN stays ON wards.code = stays.ward",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM stays) AS t",
    "SELECT COUNT(*) FROM (SELECT * FROM stays ORDER BY cost DESC LIMIT 10) AS t",
]
WINDOW = [
    "SELECT COUNT(*) FROM (SELECT stay_id, ROW_NUMBER() OVER (ORDER BY admitted) AS place FROM stays) AS t "
    "WHERE place <= 10",
    "SELECT AVG(cost - usual) FROM (SELECT cost, AVG(cost) OVER (PARTITION BY ward) AS usual FROM stays) AS t",
    "SELECT ward, RANK() OVER (ORDER BY cost DESC) FROM stays",
    "SELECT AVG(gap) FROM (SELECT admitted - LAG(admitted) OVER (ORDER BY admitted) AS gap FROM stays) AS t",
]
SHOWS_UNITS = [
    "SELECT patient_id, COUNT(*) FROM stays GROUP BY patient_id",
    "SELECT stay_id, COUNT(*) FROM measurements GROUP BY stay_id",
    "SELECT stay_id, SUM(cost) AS spent FROM stays GROUP BY stay_id ORDER BY spent DESC LIMIT 10",
    "SELECT taker, drug, COUNT(*) FROM prescriptions GROUP BY taker, drug",
    "SELECT * FROM stays",
    "SELECT ward, cost FROM stays",
    "SELECT p.patient_id, w.ward_name FROM patients p JOIN stays s ON p.patient_id = s.patient_id JOIN wards w "
    "ON s.ward = w.code",
    "SELECT note, COUNT(*) FROM patients GROUP BY note",
    "SELECT remark, AVG(cost) FROM stays GROUP BY remark",
    "SELECT hint FROM prescriptions",
    "SELECT MAX(note) FROM patients",
    "SELECT n, COUNT(*) FROM (SELECT patient_id AS n FROM patients) AS t GROUP BY n",
    "SELECT COUNT(*) FROM stays WHERE patient_id = 7",
    "SELECT COUNT(*) FROM stays WHERE stay_id IN (1, 2, 3)",
]
PUBLIC = [
    "SELECT COUNT(*) FROM wards",
    "SELECT building, SUM(beds) FROM wards GROUP BY building",
    "SELECT family, AVG(price) FROM drugs JOIN offers ON drugs.drug = offers.offered GROUP BY family",
    "SELECT ward_name FROM wards WHERE beds > 20",
    "SELECT COUNT(*) FROM drugs WHERE drug NOT IN (SELECT offered FROM offers)",
    "SELECT AVG(beds) FROM (SELECT building, SUM(beds) AS beds FROM wards GROUP BY building) AS t",
    "SELECT COUNT(*) FROM stays WHERE cost > (SELECT 100 * MAX(beds) FROM wards)",
    "SELECT COUNT(*) FROM prescriptions WHERE drug IN (SELECT drug FROM drugs WHERE price > (SELECT AVG(price) "
    "FROM drugs))",
]

REFUSED = [
    Refused(sql, reason)
    for reason, texts in {
        Reason.ACROSS_UNITS: ACROSS_UNITS,
        Reason.OTHERS_ROWS: OTHERS_ROWS,
        Reason.WINDOW: WINDOW,
        Reason.SHOWS_UNITS: SHOWS_UNITS,
        Reason.PUBLIC: PUBLIC,
    }.items()
    for sql in texts
]
