"""Questions about rows for which others exist, or do not: of the same patient, or in public tables."""

from __future__ import annotations

from inbounds.query import column
from tests.helpers.infirmary.asked import Asked, measurements, prescriptions, stays

EXISTING = [
    Asked("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM stays s WHERE s.patient_id = p.patient_id)",
          lambda d: d.exists("stays").count()),
    Asked("SELECT sex, COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM stays s WHERE "
          "s.patient_id = p.patient_id) GROUP BY sex",
          lambda d: d.not_exists("stays").count().by("sex")),
    Asked("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM stays s WHERE s.patient_id = p.patient_id "
          "AND s.urgent = TRUE AND s.cost > 2000)",
          lambda d: d.exists("stays", where="urgent AND cost > 2000").count()),
    Asked("SELECT ward, COUNT(*) FROM stays s WHERE EXISTS (SELECT * FROM measurements m WHERE "
          "m.stay_id = s.stay_id AND m.value > 100) GROUP BY ward",
          lambda d: stays(d).exists("measurements", where=column("value") > 100).count().by("ward")),
    Asked("SELECT ward, COUNT(*) FROM stays s WHERE NOT EXISTS (SELECT * FROM measurements m WHERE "
          "m.stay_id = s.stay_id) GROUP BY ward"),
    Asked("SELECT COUNT(*) FROM stays s WHERE EXISTS (SELECT * FROM measurements m WHERE m.stay_id = s.stay_id "
          "AND m.taken > s.discharged)",
          lambda d: stays(d).exists("measurements", where="taken > discharged").count()),
    Asked("SELECT COUNT(*) FROM stays a WHERE EXISTS (SELECT * FROM stays b WHERE b.patient_id = a.patient_id "
          "AND b.admitted > a.discharged AND b.admitted <= a.discharged + 30)"),
    Asked("SELECT COUNT(*) FROM stays a WHERE NOT EXISTS (SELECT * FROM stays b WHERE b.patient_id = a.patient_id "
          "AND b.admitted < a.admitted)",
          lambda d: stays(d).not_exists("stays", name="b", where="b.admitted < stays.admitted").count()),
    Asked("SELECT COUNT(*) FROM prescriptions r WHERE EXISTS (SELECT * FROM stays s WHERE s.patient_id = r.taker "
          "AND r.started BETWEEN s.admitted AND s.discharged)",
          lambda d: prescriptions(d).exists("stays", where="started BETWEEN admitted AND discharged").count()),
    Asked("SELECT drug, COUNT(*) FROM prescriptions r WHERE NOT EXISTS (SELECT * FROM patients p WHERE "
          "p.patient_id = r.taker) GROUP BY drug",
          lambda d: prescriptions(d).not_exists("patients").count().by("drug")),
    Asked("SELECT COUNT(*) FROM measurements m WHERE EXISTS (SELECT * FROM stays s WHERE s.stay_id = m.stay_id "
          "AND s.ward = 'a1')",
          lambda d: measurements(d).exists("stays", where="ward = 'a1'").count()),
    Asked("SELECT COUNT(*) FROM stays s JOIN patients p ON s.patient_id = p.patient_id WHERE p.sex = 'f' "
          "AND EXISTS (SELECT * FROM prescriptions r WHERE r.taker = p.patient_id AND r.drug = 3)",
          lambda d: stays(d).join("patients").exists("prescriptions", where="drug = 3").count().where("sex = 'f'")),
    Asked("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM stays s JOIN measurements m "
          "ON m.stay_id = s.stay_id WHERE s.patient_id = p.patient_id AND m.kind = 'heat' AND m.value >= 39)",
          lambda d: d.exists(stays(d).join("measurements"), where="kind = 'heat' AND value >= 39").count()),
    Asked("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM stays s, wards w WHERE w.code = s.ward "
          "AND s.patient_id = p.patient_id AND w.building = 'new')",
          lambda d: d.exists(stays(d).join("wards", on="ward"), where="building = 'new'").count()),
    Asked("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM stays s WHERE s.patient_id = p.patient_id "
          "AND NOT EXISTS (SELECT * FROM measurements m WHERE m.stay_id = s.stay_id))",
          lambda d: d.exists(stays(d).not_exists("measurements")).count()),
    Asked("SELECT COUNT(*) FROM measurements a WHERE EXISTS (SELECT * FROM measurements b WHERE "
          "b.stay_id = a.stay_id AND b.kind <> a.kind AND b.taken = a.taken)",
          lambda d: measurements(d)
          .exists("measurements", name="b", where="b.kind <> measurements.kind AND b.taken = measurements.taken")
          .count()),
    Asked("SELECT COUNT(*) FROM prescriptions r WHERE EXISTS (SELECT * FROM offers o WHERE o.offered = r.drug)"),
    Asked("SELECT COUNT(*) FROM prescriptions r WHERE NOT EXISTS (SELECT * FROM offers o WHERE o.offered = r.drug "
          "AND o.discount > 10)",
          lambda d: prescriptions(d).not_exists("offers", on={"drug": "offered"}, where="discount > 10").count()),
    Asked("SELECT kind, COUNT(*) FROM measurements m WHERE EXISTS (SELECT * FROM norms n WHERE "
          "n.norm_kind = m.kind AND m.value > n.high) GROUP BY kind",
          lambda d: measurements(d).exists("norms", on={"kind": "norm_kind"}, where="value > high").count()
          .by("kind")),
]  # fmt: skip

AMONG = [
    Asked("SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM stays WHERE ward = 'b2')"),
    Asked("SELECT sex, COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT taker FROM prescriptions) GROUP BY sex"),
    Asked("SELECT AVG(weight) FROM patients WHERE patient_id IN (SELECT taker FROM prescriptions WHERE drug = 3)"),
    Asked("SELECT ward, COUNT(*) FROM stays WHERE stay_id IN (SELECT stay_id FROM measurements WHERE "
          "kind = 'pulse' AND value > 100) GROUP BY ward"),
    Asked("SELECT COUNT(*) FROM measurements WHERE stay_id IN (SELECT stay_id FROM stays WHERE urgent = TRUE)"),
    Asked("SELECT COUNT(*) FROM stays WHERE patient_id IN (SELECT patient_id FROM patients WHERE sex = 'm' "
          "AND weight > 80)"),
    Asked("SELECT COUNT(*) FROM stays WHERE ward IN (SELECT code FROM wards WHERE building = 'old')",
          lambda d: stays(d).exists("wards", on="ward", where="building = 'old'").count()),
    Asked("SELECT COUNT(*) FROM stays WHERE ward NOT IN (SELECT code FROM wards WHERE beds < 20)"),
    Asked("SELECT family, COUNT(*) FROM prescriptions JOIN drugs USING (drug) WHERE drugs.drug IN (SELECT offered "
          "FROM offers WHERE seller = 'south') GROUP BY family",
          None,
          "SELECT family, COUNT(*) FROM prescriptions JOIN drugs USING (drug) WHERE prescriptions.drug IN "
          "(SELECT offered FROM offers WHERE seller = 'south') GROUP BY family"),
    Asked("SELECT SUM(cost) FROM stays WHERE diagnosis IN (SELECT diagnosis FROM diagnoses WHERE chronic)",
          lambda d: stays(d).exists("diagnoses", where="chronic").sum("cost")),
    Asked("SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM stays WHERE ward IN (SELECT code "
          "FROM wards WHERE floor = 3))",
          lambda d: d.exists(stays(d).exists("wards", on="ward", where="floor = 3")).count()),
    Asked("SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM stays GROUP BY patient_id "
          "HAVING COUNT(*) >= 3)",
          lambda d: d.exists(stays(d).per_unit(n="COUNT(*)", having="n >= 3")).count()),
    Asked("SELECT COUNT(*) FROM stays WHERE stay_id IN (SELECT stay_id FROM measurements GROUP BY stay_id "
          "HAVING MAX(value) > 120)",
          lambda d: stays(d).exists(measurements(d).per("stay_id", top="MAX(value)"), where="top > 120").count()),
]  # fmt: skip

PRESCRIBED = "patients p LEFT JOIN prescriptions r ON r.taker = p.patient_id AND r.dose > 250"
TREATED = "(SELECT taker, COUNT(*) AS n FROM prescriptions WHERE drug = 1 GROUP BY taker) t"

UNMATCHED = [
    Asked(f"SELECT COUNT(*) FROM {PRESCRIBED} WHERE EXISTS (SELECT * FROM prescriptions x WHERE x.taker = r.taker)",
          lambda d: d.join("prescriptions", keep=True, name="r", where="dose > 250")
          .exists("prescriptions", name="x", on={"r.taker": "taker"}).count()),
    Asked(f"SELECT sex, COUNT(*) FROM {PRESCRIBED} WHERE NOT EXISTS (SELECT * FROM prescriptions x WHERE "
          "x.taker = r.taker AND x.drug = 1) GROUP BY sex",
          lambda d: d.join("prescriptions", keep=True, name="r", where="dose > 250")
          .not_exists("prescriptions", name="x", on={"r.taker": "taker"}, where="x.drug = 1").count().by("sex")),
    Asked(f"SELECT COUNT(*) FROM {PRESCRIBED} WHERE r.taker IN (SELECT taker FROM prescriptions WHERE drug = 1)"),
    Asked(f"SELECT COUNT(*) FROM {PRESCRIBED} WHERE NOT EXISTS (SELECT * FROM stays s WHERE s.patient_id = r.taker)"),
    Asked(f"SELECT COUNT(*) FROM {PRESCRIBED} WHERE (r.taker, r.drug) IN (SELECT taker, drug FROM prescriptions "
          "WHERE dose < 100)"),
    Asked(f"SELECT COUNT(*) FROM {PRESCRIBED} WHERE NOT EXISTS (SELECT * FROM stays s JOIN patients q ON "
          "q.patient_id = s.patient_id WHERE s.patient_id = r.taker AND q.sex = 'f')"),
    Asked(f"SELECT COUNT(*) FROM patients p LEFT JOIN {TREATED} ON t.taker = p.patient_id WHERE t.taker IN "
          "(SELECT patient_id FROM stays)"),
    Asked(f"SELECT sex, COUNT(*) FROM patients p LEFT JOIN {TREATED} ON t.taker = p.patient_id WHERE NOT EXISTS "
          "(SELECT * FROM prescriptions x WHERE x.taker = t.taker AND x.dose > 400) GROUP BY sex"),
    Asked("SELECT COUNT(*) FROM patients p LEFT JOIN measurements m ON m.patient_id = p.patient_id AND m.value > 140 "
          "WHERE NOT EXISTS (SELECT * FROM prescriptions x WHERE x.taker = m.patient_id)",
          lambda d: d.join("measurements", keep=True, where="value > 140")
          .not_exists("prescriptions", on={"measurements.patient_id": "taker"}).count(),
          "SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT DISTINCT stay_id, patient_id FROM stays JOIN patients "
          "USING (patient_id)) s ON s.patient_id = p.patient_id AND stay_id IN (SELECT stay_id FROM measurements "
          "WHERE value > 140) LEFT JOIN measurements m ON m.stay_id = s.stay_id AND m.value > 140 "
          "WHERE NOT EXISTS (SELECT * FROM prescriptions x WHERE x.taker = s.patient_id)"),
]  # fmt: skip
"""Rows of LEFT JOIN, whose unit is missing where nothing matched."""

FILTERED: list[Asked] = [*EXISTING, *AMONG, *UNMATCHED]
