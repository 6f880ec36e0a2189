"""Questions in the words that people and tools use: keys that USING has made one, subqueries about a row's own rows."""

from __future__ import annotations

from tests.helpers.infirmary.asked import Asked, stays

OWNERS = "(SELECT DISTINCT stay_id, patient_id FROM stays) AS s"
"""Whose stays they are: a key that is there twice is still one stay."""

KEYS = [
    Asked("SELECT AVG(n) FROM (SELECT stay_id, LEAST(COUNT(*), 30) AS n FROM stays JOIN measurements USING (stay_id) "
          "GROUP BY stay_id) AS t",
          lambda d: stays(d).join("measurements").per("stay_id", n="LEAST(COUNT(*), 30)").mean("n")),
    Asked("SELECT n, COUNT(*) FROM (SELECT stay_id, LEAST(COUNT(value), 9) AS n FROM stays LEFT JOIN measurements "
          "USING (stay_id) GROUP BY stay_id) AS t GROUP BY n",
          lambda d: stays(d).join("measurements", keep=True).per("stay_id", n="LEAST(COUNT(value), 9)").count().by("n"),
          "SELECT n, COUNT(*) FROM (SELECT stay_id, LEAST(COUNT(value), 9) AS n FROM stays LEFT JOIN measurements "
          "USING (stay_id) WHERE stay_id IS NOT NULL GROUP BY stay_id) AS t GROUP BY n"),
    Asked("SELECT COUNT(*) FROM (SELECT stay_id, COUNT(*) AS n FROM (SELECT * FROM stays JOIN measurements "
          "USING (stay_id)) AS t GROUP BY stay_id) AS u"),
    Asked("SELECT COUNT(*) FROM (SELECT DISTINCT m.stay_id FROM stays s LEFT JOIN measurements m "
          "ON m.stay_id = s.stay_id) AS t",
          truth="SELECT COUNT(DISTINCT m.stay_id) FROM stays s JOIN measurements m ON m.stay_id = s.stay_id"),
    Asked("SELECT COUNT(*) FROM (SELECT DISTINCT s.patient_id, m.stay_id FROM stays s LEFT JOIN measurements m "
          "ON m.stay_id = s.stay_id) AS t"),
    Asked("SELECT COUNT(*) FROM (SELECT stay_id, COUNT(*) AS n FROM stays GROUP BY stay_id) AS t",
          truth="SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, stay_id FROM stays) AS t WHERE stay_id IS NOT NULL"),
    Asked("SELECT sex, COUNT(*) FROM measurements JOIN patients USING (patient_id) GROUP BY sex",
          truth=f"SELECT sex, COUNT(*) FROM measurements JOIN {OWNERS} USING (stay_id) JOIN patients "
          "USING (patient_id) GROUP BY sex"),
    Asked("SELECT COUNT(*) FROM measurements m JOIN prescriptions r ON m.patient_id = r.taker",
          truth=f"SELECT COUNT(*) FROM measurements m JOIN {OWNERS} USING (stay_id) JOIN prescriptions r "
          "ON s.patient_id = r.taker"),
    Asked("SELECT COUNT(DISTINCT patient_id) FROM measurements",
          truth="SELECT COUNT(DISTINCT patient_id) FROM measurements JOIN stays USING (stay_id)"),
    Asked("SELECT ward, COUNT(*) FROM (SELECT s.* FROM stays s JOIN measurements m USING (stay_id) WHERE m.value > 90) "
          "AS t GROUP BY ward"),
    Asked("SELECT COUNT(*) FROM (SELECT s.*, m.value AS seen FROM stays s JOIN measurements m USING (stay_id)) AS t "
          "WHERE urgent = TRUE AND seen > 50"),
]  # fmt: skip

OWN_ROWS = [
    Asked("SELECT COUNT(*) FROM stays s WHERE (SELECT COUNT(*) FROM measurements m WHERE m.stay_id = s.stay_id) > 3"),
    Asked("SELECT ward, COUNT(*) FROM stays s WHERE (SELECT COUNT(*) FROM measurements m WHERE m.stay_id = s.stay_id "
          "AND m.kind = 'heat') = 0 GROUP BY ward"),
    Asked("SELECT ward, COUNT(*) FROM stays s WHERE admitted = (SELECT MAX(t.admitted) FROM stays t "
          "WHERE t.patient_id = s.patient_id) GROUP BY ward"),
    Asked("SELECT COUNT(*) FROM stays s WHERE (SELECT MAX(value) - MIN(value) FROM measurements m WHERE m.stay_id = "
          "s.stay_id) > 100 AND s.urgent = FALSE"),
    Asked("SELECT COUNT(*) FROM measurements m WHERE m.value = (SELECT MAX(n.value) FROM measurements n "
          "WHERE n.stay_id = m.stay_id AND n.kind = 'pulse')"),
    Asked("SELECT sex, COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM prescriptions r WHERE r.taker = "
          "p.patient_id) BETWEEN 1 AND 2 GROUP BY sex"),
    Asked("SELECT COUNT(*) FROM stays s WHERE urgent = TRUE OR EXISTS (SELECT 1 FROM measurements m WHERE m.stay_id = "
          "s.stay_id AND m.value > 150)"),
    Asked("SELECT COUNT(*) FROM stays s WHERE NOT (urgent = TRUE AND EXISTS (SELECT * FROM measurements m "
          "WHERE m.stay_id = s.stay_id AND m.value > 90))"),
    Asked("SELECT COUNT(*) FROM patients WHERE sex = 'f' OR patient_id IN (SELECT taker FROM prescriptions "
          "WHERE dose > 200)"),
    Asked("SELECT COUNT(*) FROM stays s WHERE (s.stay_id, s.patient_id) IN (SELECT t.stay_id, t.patient_id FROM stays "
          "t WHERE t.urgent = TRUE)"),
    Asked("SELECT COUNT(*) FROM stays a JOIN stays b ON (a.patient_id, a.ward) = (b.patient_id, b.ward)",
          truth="SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id AND a.ward = b.ward"),
]  # fmt: skip

COMBINED = [
    Asked("SELECT AVG(span) FROM (SELECT patient_id, MAX(discharged) - MIN(admitted) AS span FROM stays "
          "GROUP BY patient_id) AS t"),
    Asked("SELECT COUNT(*) FROM (SELECT COALESCE(SUM(dose), 0) * 2 AS twice, taker FROM prescriptions GROUP BY 2 "
          "HAVING twice > 300) AS t"),
    Asked("SELECT n, COUNT(*) FROM (SELECT stay_id, LEAST(COUNT(*), 9) - 1 AS n FROM measurements GROUP BY 1 "
          "HAVING COUNT(*) > 1) AS t GROUP BY n"),
]  # fmt: skip

TOOLS = [
    Asked("WITH stays AS (SELECT * FROM stays WHERE urgent = TRUE) SELECT ward, COUNT(*) FROM stays GROUP BY ward"),
    Asked("WITH wards AS (SELECT * FROM wards WHERE beds > 10) SELECT COUNT(*) FROM stays JOIN wards "
          "ON stays.ward = wards.code"),
    Asked("WITH a AS (SELECT * FROM stays), stays AS (SELECT * FROM a WHERE cost > 100) SELECT COUNT(*) FROM stays"),
    Asked("SELECT COUNT(*) FROM stays WHERE 1=1 AND urgent = TRUE AND TRUE"),
    Asked("SELECT ward, COUNT(*) FROM stays WHERE TRUE GROUP BY ward"),
    Asked("SELECT COUNT(*) FROM stays JOIN patients USING (patient_id) WHERE 1 = 1 AND sex = 'f'"),
    Asked("SELECT COUNT(*) FROM stays WHERE admitted < DATE '2026-01-31' + INTERVAL 1 MONTH"),
    Asked("SELECT COUNT(*) FROM stays WHERE admitted < DATE '2026-01-31' + INTERVAL '1 month'"),
    Asked("SELECT COUNT(*) FROM stays WHERE admitted < DATE '2026-03-01' - INTERVAL '3 days' AND discharged > admitted "
          "+ INTERVAL 2 DAYS"),
]  # fmt: skip

WRITTEN: list[Asked] = [*KEYS, *OWN_ROWS, *COMBINED, *TOOLS]
