"""Questions about rows made of rows: one for each patient or stay, in derived tables, nested, and by name."""

from __future__ import annotations

from inbounds.query import column
from tests.helpers.infirmary.asked import Asked, measurements, stays

N = column("n")

OF_PATIENTS = [
    Asked("SELECT AVG(n) FROM (SELECT patient_id, LEAST(COUNT(*), 20) AS n FROM stays GROUP BY patient_id) AS t",
          lambda d: d.rows_of("stays").per_unit(n="LEAST(COUNT(*), 20)").mean("n")),
    Asked("SELECT n, COUNT(*) FROM (SELECT patient_id, LEAST(COUNT(*), 6) AS n FROM stays GROUP BY patient_id) AS t "
          "GROUP BY n", lambda d: d.rows_of("stays").per_unit(n="LEAST(COUNT(*), 6)").count().by("n")),
    Asked("SELECT COUNT(*) FROM (SELECT patient_id, MAX(cost) AS dearest FROM stays GROUP BY patient_id) AS t "
          "WHERE dearest > 5000",
          lambda d: d.rows_of("stays").per_unit(dearest="MAX(cost)").count().where("dearest > 5000")),
    Asked("SELECT AVG(spent) FROM (SELECT patient_id, LEAST(SUM(cost), 30000) AS spent FROM stays "
          "WHERE urgent = TRUE GROUP BY patient_id) AS t",
          lambda d: d.rows_of("stays").per_unit(spent="LEAST(SUM(cost), 30000)", where="urgent = TRUE").mean("spent"),
          "SELECT AVG(spent) FROM (SELECT patient_id, LEAST(SUM(cost), 30000) AS spent FROM stays WHERE urgent = TRUE "
          "AND cost IS NOT NULL GROUP BY patient_id) AS t"),  # LEAST passes over what is missing there, not here
    Asked("SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM stays WHERE ward = 'c1') AS t",
          lambda d: d.rows_of("stays").per_unit(where="ward = 'c1'").count()),
    Asked("SELECT sex, AVG(n) FROM patients JOIN (SELECT patient_id, LEAST(COUNT(*), 20) AS n FROM stays "
          "GROUP BY patient_id) AS t USING (patient_id) GROUP BY sex",
          lambda d: d.join(d.rows_of("stays").per_unit(n="LEAST(COUNT(*), 20)")).mean("n").by("sex")),
    Asked("SELECT COALESCE(n, 0), COUNT(*) FROM patients LEFT JOIN (SELECT taker, LEAST(COUNT(*), 9) AS n "
          "FROM prescriptions GROUP BY taker) AS t ON patients.patient_id = t.taker GROUP BY COALESCE(n, 0)",
          lambda d: d.join(d.rows_of("prescriptions").per_unit(n="LEAST(COUNT(*), 9)"), keep=True)
          .count().by(N.or_else(0))),
    Asked("SELECT n, COUNT(*) FROM (SELECT p.patient_id, LEAST(COUNT(s.stay_id), 8) AS n FROM patients p LEFT JOIN "
          "stays s ON p.patient_id = s.patient_id GROUP BY p.patient_id) AS t GROUP BY n",
          lambda d: d.join("stays", keep=True).per_unit(n="LEAST(COUNT(stay_id), 8)").count().by("n")),
    Asked("SELECT n, COUNT(*) FROM (SELECT p.patient_id, LEAST(COUNT(s.stay_id), 8) FROM patients p LEFT JOIN stays s "
          "ON p.patient_id = s.patient_id AND s.urgent = TRUE GROUP BY p.patient_id) AS t (id, n) GROUP BY n"),
    Asked("SELECT COUNT(*) FROM (SELECT patient_id, COUNT(DISTINCT ward) AS wards_seen FROM stays "
          "GROUP BY patient_id) AS t WHERE wards_seen >= 3",
          lambda d: d.rows_of("stays").per_unit(wards_seen="COUNT(DISTINCT ward)").count().where("wards_seen >= 3")),
    Asked("SELECT COUNT(*) FROM (SELECT s.patient_id, MAX(m.value) AS top FROM measurements m JOIN stays s "
          "USING (stay_id) WHERE m.kind = 'pulse' GROUP BY s.patient_id) AS t WHERE top >= 105"),
    Asked("SELECT AVG(top - least) FROM (SELECT s.patient_id, MAX(m.value) AS top, MIN(m.value) AS least "
          "FROM measurements m JOIN stays s ON m.stay_id = s.stay_id WHERE m.kind = 'pressure' "
          "GROUP BY s.patient_id) AS t"),
    Asked("SELECT AVG(n) FROM (SELECT patient_id, LEAST(COUNT(*), 10) AS n FROM stays GROUP BY patient_id "
          "HAVING COUNT(DISTINCT ward) = 1) AS t"),
    Asked("SELECT MONTH(first), COUNT(*) FROM (SELECT patient_id, MIN(admitted) AS first FROM stays "
          "GROUP BY patient_id) AS t GROUP BY 1",
          lambda d: d.rows_of("stays").per_unit(first="MIN(admitted)").count().by(column("first").part("month"))),
    Asked("SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM stays GROUP BY patient_id HAVING COUNT(*) >= 2) "
          "AS t"),
    Asked("SELECT COUNT(*) FROM (SELECT a.patient_id FROM stays a JOIN stays b ON a.patient_id = b.patient_id "
          "AND b.admitted BETWEEN a.discharged + 1 AND a.discharged + 30 GROUP BY a.patient_id) AS back"),
]  # fmt: skip

OF_STAYS = [
    Asked("SELECT AVG(n) FROM (SELECT stay_id, LEAST(COUNT(*), 60) AS n FROM measurements GROUP BY stay_id) AS t",
          lambda d: measurements(d).per("stay_id", n="LEAST(COUNT(*), 60)").mean("n")),
    Asked("SELECT n, COUNT(*) FROM (SELECT stay_id, LEAST(COUNT(*), 9) AS n FROM measurements GROUP BY stay_id) AS t "
          "GROUP BY n"),
    Asked("SELECT COUNT(*) FROM (SELECT stay_id, MAX(value) AS top FROM measurements WHERE kind = 'heat' "
          "GROUP BY stay_id) AS t WHERE top > 39"),
    Asked("SELECT ward, AVG(top) FROM stays JOIN (SELECT stay_id, MAX(value) AS top FROM measurements "
          "WHERE kind = 'pulse' GROUP BY stay_id) AS t USING (stay_id) GROUP BY ward",
          lambda d: stays(d).join(measurements(d).per("stay_id", top="MAX(value)", where="kind = 'pulse'"))
          .mean("top").by("ward")),
    Asked("SELECT ward_name, COUNT(*) FROM stays s JOIN (SELECT stay_id, COUNT(*) AS n FROM measurements "
          "GROUP BY stay_id HAVING COUNT(*) > 4) AS t ON t.stay_id = s.stay_id JOIN wards w ON s.ward = w.code "
          "GROUP BY ward_name",
          lambda d: stays(d).join(measurements(d).per("stay_id", n="LEAST(COUNT(*), 30)", having="n > 4"))
          .join("wards", on="ward").count().by("ward_name")),
    Asked("SELECT n, COUNT(*) FROM (SELECT s.stay_id, LEAST(COUNT(m.number), 12) AS n FROM stays s LEFT JOIN "
          "measurements m ON m.stay_id = s.stay_id WHERE s.stay_id IS NOT NULL GROUP BY s.stay_id) AS t GROUP BY n"),
    Asked("SELECT COUNT(*) FROM (SELECT stay_id FROM measurements WHERE kind = 'pulse' GROUP BY stay_id) AS a JOIN "
          "(SELECT stay_id FROM measurements WHERE kind = 'heat' GROUP BY stay_id) AS b USING (stay_id)",
          lambda d: measurements(d).per("stay_id", where="kind = 'pulse'").join(measurements(d)
          .per("stay_id", where="kind = 'heat'"), name="b").count()),
    Asked("SELECT COUNT(*) FROM (SELECT patient_id, MAX(n) AS most FROM stays JOIN (SELECT stay_id, LEAST(COUNT(*), "
          "60) AS n FROM measurements GROUP BY stay_id) AS t USING (stay_id) GROUP BY patient_id) AS u WHERE most > 5",
          lambda d: stays(d).join(measurements(d).per("stay_id", n="LEAST(COUNT(*), 60)")).per_unit(most="MAX(n)")
          .count().where("most > 5")),
    Asked("SELECT sex, COUNT(*) FROM (SELECT s.patient_id, s.ward, COUNT(*) AS n FROM stays s WHERE s.ward IS NOT NULL "
          "GROUP BY s.patient_id, s.ward) AS t JOIN patients USING (patient_id) WHERE n >= 2 GROUP BY sex",
          lambda d: stays(d).per("patient_id", "ward", n="COUNT(*)", where="ward IS NOT NULL").join("patients")
          .count().where("n >= 2").by("sex")),
    Asked("SELECT ward, COUNT(*) FROM (SELECT patient_id, ward FROM stays GROUP BY patient_id, ward) AS t "
          "GROUP BY ward"),
    Asked("SELECT ward, COUNT(*) FROM (SELECT DISTINCT patient_id, ward FROM stays) AS t GROUP BY ward"),
    Asked("SELECT kind, AVG(n) FROM (SELECT stay_id, kind, LEAST(COUNT(*), 30) AS n FROM measurements "
          "GROUP BY stay_id, kind) AS t GROUP BY kind",
          lambda d: measurements(d).per("stay_id", "kind", n="LEAST(COUNT(*), 30)").mean("n").by("kind")),
]  # fmt: skip

NAMED = [
    Asked("SELECT ward, COUNT(*) FROM (SELECT ward, cost, urgent FROM stays WHERE cost > 1000) AS dear "
          "WHERE urgent = TRUE GROUP BY ward"),
    Asked("SELECT place, COUNT(*) FROM (SELECT ward AS place, discharged - admitted AS nights FROM stays) AS t "
          "WHERE nights >= 7 GROUP BY place"),
    Asked("SELECT place, AVG(nights) FROM (SELECT place, nights FROM (SELECT ward AS place, discharged - admitted AS "
          "nights, urgent FROM stays) AS inside WHERE urgent = FALSE) AS outside WHERE nights < 40 GROUP BY place"),
    Asked("SELECT seen, COUNT(*) FROM (SELECT w.ward_name AS seen, m.kind AS what FROM measurements m JOIN stays s "
          "USING (stay_id) JOIN wards w ON s.ward = w.code) AS t WHERE what = 'heat' GROUP BY seen"),
    Asked("WITH dear AS (SELECT * FROM stays WHERE cost > 4000) SELECT ward, COUNT(*) FROM dear GROUP BY ward"),
    Asked("WITH dear AS (SELECT patient_id, ward, cost FROM stays WHERE cost > 4000), women AS (SELECT patient_id "
          "FROM patients WHERE sex = 'f') SELECT ward, COUNT(*) FROM dear JOIN women USING (patient_id) GROUP BY ward"),
    Asked("WITH often AS (SELECT patient_id, COUNT(*) AS n FROM stays GROUP BY patient_id HAVING COUNT(*) >= 3) "
          "SELECT sex, COUNT(*) FROM patients JOIN often USING (patient_id) GROUP BY sex"),
    Asked("WITH hot AS (SELECT DISTINCT stay_id FROM measurements WHERE kind = 'heat' AND value > 38) "
          "SELECT diagnosis, COUNT(*) FROM stays JOIN hot USING (stay_id) GROUP BY diagnosis"),
    Asked("WITH old AS (SELECT code FROM wards WHERE building = 'old') SELECT COUNT(*) FROM stays JOIN old "
          "ON stays.ward = old.code"),
    Asked("WITH a AS (SELECT stay_id, patient_id FROM stays WHERE urgent = TRUE), b AS (SELECT a.patient_id FROM a "
          "JOIN measurements m ON m.stay_id = a.stay_id WHERE m.value > 90) SELECT COUNT(DISTINCT patient_id) FROM b"),
    Asked("SELECT floor, COUNT(*) FROM (SELECT code, floor FROM wards WHERE beds > 10) AS w JOIN stays s "
          "ON s.ward = w.code GROUP BY floor"),
    Asked("SELECT year, COUNT(*) FROM (SELECT EXTRACT(year FROM discharged) AS year FROM stays) AS t GROUP BY year"),
]  # fmt: skip

DAYS = [
    Asked("SELECT COUNT(*) FROM stays WHERE admitted >= DATE '2026-03-01' AND admitted < DATE '2026-03-01' + "
          "INTERVAL '3' MONTH"),
    Asked("SELECT COUNT(*) FROM stays WHERE admitted <= DATE '2026-12-31' - INTERVAL '90' DAY"),
    Asked("SELECT ward, COUNT(*) FROM stays WHERE discharged > admitted + INTERVAL '14' DAY GROUP BY ward"),
    Asked("SELECT COUNT(*) FROM measurements m JOIN stays s USING (stay_id) WHERE m.taken BETWEEN s.admitted AND "
          "s.admitted + INTERVAL '2' DAY"),
    Asked("SELECT COUNT(*) FROM patients WHERE born < DATE '2026-01-01' - INTERVAL '65' YEAR"),
    Asked("SELECT EXTRACT(month FROM taken), COUNT(*) FROM measurements GROUP BY 1",
          lambda d: d.rows_of("measurements").count().by(column("taken").part("month"))),
    Asked("SELECT sex, COUNT(*) FROM stays s JOIN patients p USING (patient_id) WHERE s.admitted - p.born >= 23741 "
          "GROUP BY sex"),
    Asked("SELECT COUNT(*) FROM stays WHERE admitted BETWEEN DATE '2026-01-31' AND DATE '2026-01-31' + "
          "INTERVAL '1' MONTH"),
    Asked("SELECT COUNT(*) FROM prescriptions WHERE started + INTERVAL '1' WEEK > DATE '2026-06-30'"),
]  # fmt: skip

MADE: list[Asked] = [*OF_PATIENTS, *OF_STAYS, *NAMED, *DAYS]
