"""Everyday joins: visits with their patient, with the public table of wards, and subqueries about the same patient."""

from __future__ import annotations

from tests.helpers.spellings.hospital import Hospital, Patient, Visit
from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import column, count, distinct, line, mean, n, share, table, total, where


def with_patients(h: Hospital) -> list[tuple[Visit, Patient]]:
    """Return each visit with its patient."""
    patients = {patient.patient_id: patient for patient in h.patients}
    return [(visit, patients[visit.patient_id]) for visit in h.visits]


def building(h: Hospital) -> dict[str, str]:
    """Return in which building each ward is."""
    return {ward.ward: ward.building for ward in h.wards}


def beds(h: Hospital) -> dict[str, int]:
    """Return how many beds each ward has."""
    return {ward.ward: ward.beds for ward in h.wards}


ASKED = [
    Asked("join-patients", Style.MODE,
          "SELECT p.region, COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.region",
          lambda h: table(with_patients(h), lambda row: row[1].region, n)),
    Asked("join-using", Style.POSTGRESQL,
          "SELECT smoker, AVG(cost) FROM visits JOIN patients USING (patient_id) GROUP BY smoker",
          lambda h: table(with_patients(h), lambda row: row[1].smoker, mean(lambda row: row[0].cost))),
    Asked("inner-join", Style.MODE,
          "SELECT p.smoker, COUNT(DISTINCT v.patient_id) AS patients FROM visits AS v INNER JOIN patients AS p ON "
          "p.patient_id = v.patient_id WHERE v.ward = 'cardiology' GROUP BY p.smoker",
          lambda h: table(where(with_patients(h), lambda row: row[0].ward == "cardiology"),
                          lambda row: row[1].smoker, distinct(lambda row: row[1].patient_id))),
    Asked("natural-join-by-comma", Style.STANDARD,
          "SELECT COUNT(*) FROM visits v, patients p WHERE v.patient_id = p.patient_id AND p.smoker",
          lambda h: line(with_patients(h), count(lambda row: row[1].smoker))),
    Asked("join-wards", Style.MODE,
          "SELECT w.building, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.building",
          lambda h: table(h.visits, lambda v: building(h)[v.ward], n)),
    Asked("left-join-wards", Style.DBT,
          "with v as (select * from visits), w as (select * from wards), final as (select v.*, w.building from v "
          "left join w on v.ward = w.ward) select building, sum(cost) as spent from final group by building",
          lambda h: table(h.visits, lambda v: building(h)[v.ward], total("cost"))),
    Asked("per-bed", Style.MODE,
          "SELECT v.ward, COUNT(*) * 1.0 / MAX(w.beds) AS per_bed FROM visits v JOIN wards w ON v.ward = w.ward "
          "GROUP BY v.ward",
          lambda h: [(ward, many / beds(h)[ward]) for ward, many in table(h.visits, "ward", n)]),
    Asked("join-three", Style.MODE,
          "SELECT w.building, p.smoker, AVG(v.stay) FROM visits v JOIN patients p ON v.patient_id = p.patient_id "
          "JOIN wards w ON w.ward = v.ward GROUP BY w.building, p.smoker",
          lambda h: table(with_patients(h), (lambda row: building(h)[row[0].ward], lambda row: row[1].smoker),
                          mean(lambda row: row[0].stay))),
    Asked("left-join-counts-nobody", Style.MODE,
          "SELECT n, COUNT(*) FROM (SELECT p.patient_id, COUNT(v.patient_id) AS n FROM patients p LEFT JOIN visits "
          "v ON v.patient_id = p.patient_id GROUP BY p.patient_id) AS t GROUP BY n",
          lambda h: table([(sum(v.patient_id == p.patient_id for v in h.visits),) for p in h.patients], column(0), n)),
    Asked("matches-of-a-left-join", Style.MYSQL,
          "SELECT p.region, COUNT(v.patient_id) AS visits FROM patients p LEFT JOIN visits v ON v.patient_id = "
          "p.patient_id AND v.ward = 'surgery' GROUP BY p.region",
          lambda h: table(where(h.visits, lambda v: v.ward == "surgery"), "region", n)),
    Asked("came-or-not", Style.BIGQUERY,
          "SELECT CASE WHEN n > 0 THEN 'came' ELSE 'never' END AS c, COUNT(*) FROM (SELECT p.patient_id, "
          "COUNT(v.patient_id) AS n FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY p.patient_id) t "
          "GROUP BY c",
          lambda h: [("came", len({v.patient_id for v in h.visits})),
                     ("never", len(h.patients) - len({v.patient_id for v in h.visits}))]),
    Asked("never-came", Style.MODE,
          "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id WHERE v.patient_id IS "
          "NULL",
          lambda h: [(len({p.patient_id for p in h.patients} - {v.patient_id for v in h.visits}),)]),
    Asked("not-exists", Style.POSTGRESQL,
          "SELECT region, COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = "
          "p.patient_id) GROUP BY region",
          lambda h: table(where(h.patients, lambda p: p.patient_id not in {v.patient_id for v in h.visits}), "region",
                          n)),
    Asked("exists", Style.POSTGRESQL,
          "SELECT smoker, COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = "
          "p.patient_id AND v.ward = 'surgery') GROUP BY smoker",
          lambda h: table(where(h.patients, lambda p: p.patient_id in {v.patient_id for v in h.visits
                                                                      if v.ward == "surgery"}), "smoker", n)),
    Asked("in-patients", Style.MODE,
          "SELECT ward, COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE smoker) "
          "GROUP BY ward",
          lambda h: table([v for v, p in with_patients(h) if p.smoker], "ward", n)),
    Asked("in-wards", Style.MODE,
          "SELECT COUNT(*) FROM visits WHERE ward IN (SELECT ward FROM wards WHERE beds >= 30)",
          lambda h: line(h.visits, count(lambda v: beds(h)[v.ward] >= 30))),
    Asked("patients-alone", Style.STANDARD, "SELECT region, sex, COUNT(*) FROM patients GROUP BY region, sex",
          lambda h: table(h.patients, ("region", "sex"), n)),
    Asked("smokers", Style.POSTGRESQL, "SELECT region, AVG(smoker::int) AS rate FROM patients GROUP BY region",
          lambda h: table(h.patients, "region", share(lambda p: p.smoker))),
    Asked("division-is-exact", Style.DUCKDB, "SELECT birth_year / 10 * 10 AS born, COUNT(*) FROM patients GROUP BY 1",
          lambda h: table(h.patients, "birth_year", n),
          "SELECT birth_year, COUNT(*) FROM patients GROUP BY 1"),
    Asked("joined-per-unit", Style.DBT,
          "with visit_counts as (select patient_id, count(*) as n, sum(cost) as spent from visits group by 1), "
          "final as (select p.smoker, c.n, c.spent from patients p join visit_counts c on p.patient_id = "
          "c.patient_id) select smoker, avg(n) as visits, avg(spent) as spent from final group by smoker",
          lambda h: table([(p.smoker, sum(v.patient_id == p.patient_id for v in h.visits),
                            sum(v.cost for v in h.visits if v.patient_id == p.patient_id)) for p in h.patients[:-60]],
                          column(0), mean(column(1)), mean(column(2)))),
]  # fmt: skip
