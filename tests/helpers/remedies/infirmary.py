"""Questions to the infirmary of related tables, and what their remedies lead to."""

from __future__ import annotations

from tests.helpers.remedies.followed import Final, Followed, followed

COUNT = "SELECT COUNT(*) FROM stays"

JOINS = [
    followed(
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.ward = b.ward",
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM stays a, stays b WHERE a.diagnosis = b.diagnosis",
        "SELECT COUNT(*) FROM stays a, stays b WHERE a.diagnosis = b.diagnosis AND a.patient_id = b.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM stays CROSS JOIN prescriptions",
        "SELECT COUNT(*) FROM stays JOIN prescriptions ON prescriptions.taker = stays.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM stays, measurements",
        "SELECT COUNT(*) FROM stays, measurements WHERE stays.stay_id = measurements.stay_id",
    ),
    followed(
        "SELECT COUNT(*) FROM stays JOIN measurements ON stays.stay_id < measurements.stay_id",
        "SELECT COUNT(*) FROM stays JOIN measurements ON stays.stay_id = measurements.stay_id",
    ),
    followed(
        "SELECT COUNT(*) FROM patients a JOIN patients b ON a.region = b.region",
        "SELECT COUNT(*) FROM patients a JOIN patients b ON a.patient_id = b.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM prescriptions a JOIN prescriptions b USING (drug)",
        "SELECT COUNT(*) FROM prescriptions a JOIN prescriptions b ON a.taker = b.taker",
    ),
    followed(
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id OR a.ward = b.ward",
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM patients p JOIN stays s ON p.patient_id = s.patient_id + 1",
        "SELECT COUNT(*) FROM patients p JOIN stays s ON p.patient_id = s.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code JOIN stays t ON t.ward = w.code",
        "SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code JOIN stays t ON s.patient_id = t.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM measurements m JOIN prescriptions p ON m.taken = p.started",
        "SELECT COUNT(*) FROM measurements m JOIN prescriptions p ON p.taker = m.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM stays FULL JOIN prescriptions ON stays.admitted = prescriptions.started",
        "SELECT COUNT(*) FROM stays JOIN prescriptions ON stays.admitted = prescriptions.started",
        "SELECT COUNT(*) FROM stays JOIN prescriptions ON prescriptions.taker = stays.patient_id",
    ),
    followed(
        "SELECT COUNT(*) FROM wards LEFT JOIN stays ON wards.code = stays.ward",
        "SELECT COUNT(*) FROM stays LEFT JOIN wards ON wards.code = stays.ward",
    ),
    followed(
        "SELECT COUNT(*) FROM prescriptions JOIN offers USING (nothing)",
        "SELECT COUNT(*) FROM prescriptions JOIN offers ON prescriptions.drug = offers.offered",
    ),
    followed(
        "SELECT COUNT(*) FROM stays JOIN wards USING (nothing)",
        "SELECT COUNT(*) FROM stays JOIN wards ON stays.ward = wards.code",
    ),
    followed(
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id AND a.stay_id < b.stay_id",
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id AND a.stay_id <> b.stay_id",
    ),
]

LOOKUPS = [
    followed(
        "SELECT COUNT(*) FROM patients p LEFT JOIN prescriptions r ON r.taker = p.patient_id WHERE r.taker NOT IN "
        "(SELECT patient_id FROM stays)",
        "SELECT COUNT(*) FROM patients p JOIN prescriptions r ON r.taker = p.patient_id WHERE r.taker NOT IN "
        "(SELECT patient_id FROM stays)",
    ),
    followed(
        "SELECT COUNT(*) FROM stays a WHERE EXISTS (SELECT * FROM stays b WHERE b.ward = a.ward AND b.cost > a.cost)",
        "SELECT COUNT(*) FROM stays a WHERE EXISTS (SELECT * FROM stays b WHERE b.ward = a.ward AND b.cost > a.cost "
        "AND a.patient_id = b.patient_id)",
    ),
    followed(
        "SELECT COUNT(*) FROM stays WHERE EXISTS (SELECT * FROM prescriptions WHERE dose > 400)",
        "SELECT COUNT(*) FROM stays WHERE EXISTS "
        "(SELECT * FROM prescriptions WHERE dose > 400 AND stays.patient_id = prescriptions.taker)",
    ),
    followed(
        "SELECT COUNT(*) FROM prescriptions WHERE drug IN (SELECT drug FROM prescriptions WHERE dose > 400)",
        "SELECT COUNT(*) FROM prescriptions WHERE drug IN "
        "(SELECT drug FROM prescriptions AS b WHERE dose > 400 AND prescriptions.taker = b.taker)",
    ),
    followed(
        "SELECT COUNT(*) FROM stays WHERE cost > (SELECT AVG(cost) FROM stays)",
        "SELECT COUNT(*) FROM stays WHERE cost > 4000",
    ),
    followed(
        "SELECT COUNT(*) FROM stays WHERE cost > (SELECT 100 * MAX(beds) FROM wards)",
        "SELECT COUNT(*) FROM stays WHERE cost > 4000",
    ),
]

SUBQUERIES = [
    followed(
        "SELECT COUNT(*) FROM (SELECT stay_id AS patient_id, cost FROM stays) AS t WHERE cost > 10",
        "SELECT COUNT(*) FROM (SELECT stay_id AS number, cost FROM stays) AS t WHERE cost > 10",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) AS t WHERE n > 100",
        "SELECT COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY patient_id, ward) AS t WHERE n > 1",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM stays) AS t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, ward FROM stays) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT * FROM stays ORDER BY cost DESC LIMIT 10) AS t",
        "SELECT COUNT(*) FROM (SELECT * FROM stays WHERE cost > 9000) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT stay_id, ROW_NUMBER() OVER (ORDER BY admitted) AS place FROM stays) AS t",
        "SELECT COUNT(*) FROM (SELECT patient_id, MIN(admitted) AS place FROM stays GROUP BY patient_id) AS t",
    ),
    followed(
        "SELECT AVG(cost - usual) FROM (SELECT cost, AVG(cost) OVER (PARTITION BY ward) AS usual FROM stays) AS t",
        "SELECT AVG(usual) FROM (SELECT patient_id, AVG(cost) AS usual FROM stays GROUP BY patient_id) AS t",
    ),
]

SHOWN = [
    followed(
        "SELECT patient_id, COUNT(*) FROM stays GROUP BY patient_id", "SELECT COUNT(DISTINCT patient_id) FROM stays"
    ),
    followed(
        "SELECT stay_id, COUNT(*) FROM measurements GROUP BY stay_id",
        "SELECT AVG(n) FROM (SELECT stay_id, COUNT(*) AS n FROM measurements GROUP BY stay_id) AS t",
    ),
    followed(
        "SELECT COUNT(DISTINCT stay_id) FROM measurements",
        "SELECT COUNT(*) FROM (SELECT DISTINCT stay_id FROM measurements) AS t",
    ),
    followed("SELECT * FROM stays", COUNT),
    followed("SELECT ward, cost FROM stays", "SELECT ward, AVG(cost) FROM stays GROUP BY ward"),
    followed(
        "SELECT note, COUNT(*) FROM patients GROUP BY note",
        "SELECT note, COUNT(*) FROM patients WHERE note IN ('a', 'b') GROUP BY note",
    ),
    followed("SELECT MAX(note) FROM patients", "SELECT COUNT(*) FROM patients WHERE note LIKE 'a%'"),
    followed("SELECT COUNT(*) FROM patients WHERE note > 'a'", "SELECT COUNT(*) FROM patients WHERE note = 'a'"),
    followed(
        "SELECT COUNT(*) FROM patients WHERE note IN (1, 2)", "SELECT COUNT(*) FROM patients WHERE note IN ('a', 'b')"
    ),
    followed(
        "SELECT SUBSTRING(note, 1, 2), COUNT(*) FROM patients GROUP BY 1",
        "SELECT SUBSTRING(note, 1, 2), COUNT(*) FROM patients WHERE SUBSTRING(note, 1, 2) IN ('a', 'b') GROUP BY 1",
    ),
    followed("SELECT COUNT(*) FROM stays WHERE patient_id = 7", "SELECT COUNT(DISTINCT patient_id) FROM stays"),
    followed("SELECT COUNT(*) FROM stays WHERE stay_id IN (1, 2, 3)", COUNT),
    followed(
        "SELECT n, COUNT(*) FROM (SELECT patient_id AS n FROM patients) AS t GROUP BY n",
        "SELECT COUNT(DISTINCT n) FROM (SELECT patient_id AS n FROM patients) AS t",
    ),
]

CASES: list[Followed] = [*JOINS, *LOOKUPS, *SUBQUERIES, *SHOWN]

FINAL: list[Final] = [
    Final("SELECT building, SUM(beds) FROM wards GROUP BY building", "wards is public, so there is nothing to protect"),
    Final(
        "SELECT family, AVG(price) FROM drugs JOIN offers ON drugs.drug = offers.offered GROUP BY family",
        "drugs and offers are public, so there is nothing to protect",
    ),
    Final(
        "SELECT COUNT(*) FROM drugs WHERE drug NOT IN (SELECT offered FROM offers)",
        "drugs is public, so there is nothing to protect",
    ),
]
