"""Questions over joins along keys, with public tables, and of a table with itself within a patient."""

from __future__ import annotations

from inbounds.query import Dataset, column
from tests.helpers.infirmary.asked import Asked, measurements, prescriptions, stays


def measured(d: Dataset) -> Dataset:
    """Return the measurements with their stays."""
    return measurements(d).join("stays")


def warded(d: Dataset) -> Dataset:
    """Return the stays with their wards."""
    return stays(d).join("wards", on="ward")


def prescribed(d: Dataset) -> Dataset:
    """Return the prescriptions with their drugs."""
    return prescriptions(d).join("drugs", on="drug")


SEX, COST, KIND, VALUE = (column(name) for name in ("sex", "cost", "kind", "value"))
DOSE, BEDS, FLOOR, PRICE = (column(name) for name in ("dose", "beds", "floor", "price"))

MEASURED = "measurements JOIN stays USING (stay_id)"
WARDED = "stays JOIN wards ON stays.ward = wards.code"
DIAGNOSED = "stays JOIN diagnoses USING (diagnosis)"
PRESCRIBED = "prescriptions JOIN drugs USING (drug)"

ONE_TABLE = [
    Asked("SELECT COUNT(*) FROM patients", lambda d: d.count()),
    Asked("SELECT COUNT(*) FROM stays", lambda d: stays(d).count()),
    Asked("SELECT COUNT(*) FROM measurements", lambda d: d.rows_of("measurements").count()),
    Asked("SELECT COUNT(*) FROM prescriptions", lambda d: d.rows_of("prescriptions").count()),
    Asked("SELECT ward, COUNT(*) FROM stays GROUP BY ward", lambda d: stays(d).count().by("ward")),
    Asked("SELECT kind, AVG(value) FROM measurements GROUP BY kind",
          lambda d: d.rows_of("measurements").mean("value").by("kind")),
    Asked("SELECT diagnosis, SUM(cost) FROM stays GROUP BY diagnosis", lambda d: stays(d).sum("cost").by("diagnosis")),
    Asked("SELECT COUNT(DISTINCT patient_id) FROM stays", lambda d: stays(d).count_units()),
    Asked("SELECT COUNT(*) FROM stays WHERE remark LIKE '%fall%'"),
    Asked("SELECT COUNT(*) FROM patients WHERE note = 'likes tea'",
          lambda d: d.count().where("note = 'likes tea'")),
    Asked("SELECT COUNT(*) FROM patients WHERE note NOT LIKE '%special%requests%' AND sex = 'f'"),
    Asked("SELECT COUNT(*) FROM prescriptions WHERE hint IN ('after meals', 'before meals')"),
    Asked("SELECT urgent, COUNT(*) FROM stays WHERE remark IS NULL GROUP BY urgent"),
]  # fmt: skip

ALONG_KEYS = [
    Asked(f"SELECT COUNT(*) FROM {MEASURED}", lambda d: measured(d).count()),
    Asked(f"SELECT ward, COUNT(*) FROM {MEASURED} GROUP BY ward", lambda d: measured(d).count().by("ward")),
    Asked(f"SELECT kind, AVG(cost) FROM {MEASURED} GROUP BY kind", lambda d: measured(d).mean("cost").by("kind")),
    Asked(f"SELECT COUNT(*) FROM {MEASURED} WHERE urgent = TRUE AND value > 100",
          lambda d: measured(d).count().where("urgent = TRUE AND value > 100")),
    Asked(f"SELECT diagnosis, kind, COUNT(*) FROM {MEASURED} GROUP BY diagnosis, kind",
          lambda d: measured(d).count().by("diagnosis", "kind")),
    Asked("SELECT COUNT(*) FROM measurements m JOIN stays s ON m.stay_id = s.stay_id WHERE m.taken > s.admitted",
          lambda d: measurements(d).join("stays").count().where("taken > admitted")),
    Asked("SELECT COUNT(*) FROM stays s JOIN measurements m ON s.stay_id = m.stay_id WHERE m.taken <= s.discharged"),
    Asked("SELECT s.ward, AVG(m.value) FROM stays s JOIN measurements m USING (stay_id) WHERE m.kind = 'pulse' "
          "GROUP BY s.ward"),
    Asked("SELECT sex, COUNT(*) FROM stays JOIN patients USING (patient_id) GROUP BY sex",
          lambda d: stays(d).join("patients").count().by("sex")),
    Asked("SELECT sex, COUNT(*) FROM patients JOIN stays USING (patient_id) GROUP BY sex",
          lambda d: d.join("stays").count().by("sex")),
    Asked("SELECT region, SUM(cost) FROM patients JOIN stays ON patients.patient_id = stays.patient_id "
          "GROUP BY region", lambda d: d.join("stays").sum("cost").by("region")),
    Asked("SELECT region, SUM(cost) FROM stays JOIN patients ON patients.patient_id = stays.patient_id "
          "GROUP BY region", lambda d: stays(d).join("patients").sum("cost").by("region")),
    Asked("SELECT sex, kind, AVG(value) FROM measurements JOIN stays USING (stay_id) JOIN patients USING (patient_id) "
          "GROUP BY sex, kind", lambda d: measured(d).join("patients").mean("value").by("sex", "kind")),
    Asked("SELECT sex, COUNT(*) FROM patients p JOIN stays s ON p.patient_id = s.patient_id "
          "JOIN measurements m ON m.stay_id = s.stay_id GROUP BY sex",
          lambda d: d.join("stays").join("measurements").count().by("sex")),
    Asked("SELECT insured, COUNT(*) FROM measurements m JOIN stays s ON s.stay_id = m.stay_id "
          "JOIN patients p ON s.patient_id = p.patient_id WHERE m.kind <> 'heat' GROUP BY insured"),
    Asked("SELECT COUNT(*) FROM measurements, stays WHERE measurements.stay_id = stays.stay_id AND cost > 5000"),
    Asked("SELECT COUNT(*) FROM stays, measurements WHERE cost > 5000 AND stays.stay_id = measurements.stay_id"),
    Asked("SELECT sex, AVG(value) FROM measurements m, patients p, stays s WHERE s.patient_id = p.patient_id "
          "AND m.stay_id = s.stay_id AND m.kind = 'pressure' GROUP BY sex"),
    Asked("SELECT COUNT(*) FROM patients p, prescriptions r WHERE p.patient_id = r.taker AND p.weight > r.dose / 2"),
    Asked("SELECT COUNT(DISTINCT p.patient_id) FROM patients p JOIN prescriptions r ON p.patient_id = r.taker"),
    Asked("SELECT drug, COUNT(*) FROM patients JOIN prescriptions ON patients.patient_id = prescriptions.taker "
          "WHERE sex = 'm' GROUP BY drug",
          lambda d: d.join("prescriptions").count().where(SEX == "m").by("drug")),
    Asked("SELECT COUNT(*) FROM stays JOIN prescriptions ON stays.patient_id = prescriptions.taker",
          lambda d: stays(d).join("prescriptions").count()),
    Asked("SELECT ward, AVG(dose) FROM stays s JOIN prescriptions r ON s.patient_id = r.taker "
          "WHERE r.started BETWEEN s.admitted AND s.discharged GROUP BY ward",
          lambda d: stays(d).join("prescriptions", where="started BETWEEN admitted AND discharged").mean("dose")
          .by("ward")),
    Asked("SELECT COUNT(*) FROM measurements m JOIN stays s USING (stay_id) JOIN prescriptions r "
          "ON s.patient_id = r.taker WHERE r.started <= m.taken AND m.taken < r.started + r.days",
          lambda d: measurements(d).join("stays")
          .join("prescriptions", where="started <= taken AND taken < started + days").count()),
    Asked("SELECT COUNT(*) FROM stays s JOIN patients p ON s.patient_id = p.patient_id AND p.born < s.admitted"),
    Asked("SELECT AVG(discharged - admitted) FROM stays JOIN patients USING (patient_id) WHERE weight < 60",
          lambda d: stays(d).join("patients").mean(column("discharged") - column("admitted")).where("weight < 60")),
    Asked("SELECT region, COUNT(*) FROM patients JOIN prescriptions ON patients.patient_id = prescriptions.taker "
          "WHERE dose >= 100 GROUP BY region",
          lambda d: d.join("prescriptions").count().where(DOSE >= 100).by("region")),
    Asked("SELECT COUNT(*) FROM measurements JOIN stays USING (stay_id) WHERE value * 2 > 150 AND cost < 3000",
          lambda d: measured(d).count().where((VALUE * 2 > 150) & (COST < 3000))),
]  # fmt: skip

WITH_PUBLIC = [
    Asked(f"SELECT ward_name, COUNT(*) FROM {WARDED} GROUP BY ward_name",
          lambda d: warded(d).count().by("ward_name")),
    Asked(f"SELECT building, AVG(cost) FROM {WARDED} GROUP BY building",
          lambda d: warded(d).mean("cost").by("building")),
    Asked(f"SELECT floor, COUNT(*) FROM {WARDED} WHERE urgent GROUP BY floor",
          lambda d: warded(d).count().where("urgent = TRUE").by("floor")),
    Asked(f"SELECT AVG(beds) FROM {WARDED}", lambda d: warded(d).mean("beds")),
    Asked(f"SELECT COUNT(*) FROM {WARDED} WHERE beds >= 20 AND floor <> 2",
          lambda d: warded(d).count().where((BEDS >= 20) & (FLOOR != 2))),
    Asked(f"SELECT family, COUNT(*) FROM {PRESCRIBED} GROUP BY family",
          lambda d: prescribed(d).count().by("family")),
    Asked(f"SELECT SUM(price * days) FROM {PRESCRIBED}", lambda d: prescribed(d).sum(PRICE * column("days"))),
    Asked(f"SELECT drug_name, AVG(dose) FROM {PRESCRIBED} WHERE price < 10 GROUP BY drug_name",
          lambda d: prescribed(d).mean("dose").where(PRICE < 10).by("drug_name")),
    Asked(f"SELECT chapter, COUNT(*) FROM {DIAGNOSED} WHERE chronic = TRUE GROUP BY chapter",
          lambda d: stays(d).join("diagnoses", on="diagnosis").count().where("chronic = TRUE").by("chapter")),
    Asked("SELECT ward_name, chapter, COUNT(*) FROM stays JOIN wards ON ward = code JOIN diagnoses USING (diagnosis) "
          "GROUP BY ward_name, chapter",
          lambda d: warded(d).join("diagnoses", on="diagnosis").count().by("ward_name", "chapter")),
    Asked("SELECT chapter, building, SUM(cost) FROM stays, diagnoses, wards WHERE stays.ward = wards.code "
          "AND stays.diagnosis = diagnoses.diagnosis GROUP BY chapter, building"),
    Asked("SELECT COUNT(*) FROM wards JOIN stays ON wards.code = stays.ward WHERE building = 'new'"),
    Asked("SELECT family, COUNT(*) FROM drugs, prescriptions WHERE drugs.drug = prescriptions.drug GROUP BY family"),
    Asked("SELECT ward_name, AVG(value) FROM measurements JOIN stays USING (stay_id) JOIN wards ON stays.ward = "
          "wards.code WHERE kind = 'heat' GROUP BY ward_name",
          lambda d: measured(d).join("wards", on="ward").mean("value").where(KIND == "heat").by("ward_name")),
    Asked("SELECT COUNT(*) FROM wards w, measurements m, diagnoses g, stays s WHERE s.stay_id = m.stay_id AND "
          "w.code = s.ward AND g.diagnosis = s.diagnosis AND g.chronic AND w.floor = 1"),
    Asked("SELECT sex, family, COUNT(*) FROM patients p JOIN prescriptions r ON p.patient_id = r.taker "
          "JOIN drugs USING (drug) GROUP BY sex, family"),
    Asked("SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code AND w.beds > 18",
          lambda d: stays(d).join("wards", on="ward", where="beds > 18").count()),
    Asked("SELECT COUNT(*) FROM stays LEFT JOIN wards ON stays.ward = wards.code WHERE beds IS NULL",
          lambda d: stays(d).join("wards", on="ward", keep=True).count().where(BEDS.is_missing())),
    Asked("SELECT COALESCE(building, 'none'), COUNT(*) FROM stays LEFT JOIN wards ON stays.ward = wards.code "
          "GROUP BY COALESCE(building, 'none')",
          lambda d: stays(d).join("wards", on="ward", keep=True).count().by(column("building").or_else("none"))),
    Asked(f"SELECT COUNT(*) FROM {DIAGNOSED} WHERE chapter <> 'lungs'",
          lambda d: stays(d).join("diagnoses", on="diagnosis").count().where("chapter <> 'lungs'")),
    Asked(f"SELECT building, COUNT(DISTINCT patient_id) FROM {WARDED} GROUP BY building",
          lambda d: warded(d).count_units().by("building")),
    Asked("SELECT COALESCE(family, 'other'), COUNT(*) FROM prescriptions JOIN drugs USING (drug) GROUP BY 1",
          lambda d: prescribed(d).count().by(column("family").or_else("other"))),
    Asked("SELECT w1.building, w2.building, COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id "
          "JOIN wards w1 ON a.ward = w1.code JOIN wards w2 ON b.ward = w2.code GROUP BY w1.building, w2.building",
          lambda d: stays(d).join("stays", name="b").join("wards", on="stays.ward")
          .join("wards", name="w2", on="b.ward").count().by("wards.building", "w2.building")),
    Asked("SELECT n1.norm_kind, COUNT(*) FROM measurements m JOIN norms n1 ON m.kind = n1.norm_kind "
          "AND n1.norm_sex = 'f' JOIN norms n2 ON m.kind = n2.norm_kind AND n2.norm_sex = 'm' "
          "WHERE m.value > n1.high AND m.value <= n2.high GROUP BY n1.norm_kind"),
    Asked("SELECT kind, COUNT(*) FROM measurements m JOIN stays s USING (stay_id) JOIN patients p USING (patient_id) "
          "JOIN norms n ON n.norm_kind = m.kind AND n.norm_sex = p.sex WHERE m.value > n.high GROUP BY kind",
          lambda d: measurements(d).join("stays").join("patients")
          .join("norms", on={"kind": "norm_kind", "sex": "norm_sex"}, where="value > high").count().by("kind")),
    Asked("SELECT p.sex, COUNT(*) FROM measurements m, stays s, patients p, norms n WHERE m.stay_id = s.stay_id "
          "AND s.patient_id = p.patient_id AND n.norm_kind = m.kind AND n.norm_sex = p.sex "
          "AND m.value NOT BETWEEN n.low AND n.high GROUP BY p.sex"),
    Asked("SELECT norm_kind, COUNT(*) FROM measurements m JOIN norms n ON m.kind = n.norm_kind GROUP BY norm_kind",
          lambda d: measurements(d).join("norms", on={"kind": "norm_kind"}).count().by("norm_kind")),
    Asked("SELECT seller, COUNT(*) FROM prescriptions r JOIN offers o ON r.drug = o.offered GROUP BY seller",
          lambda d: prescriptions(d).join("offers", on={"drug": "offered"}).count().by("seller")),
    Asked("SELECT seller, SUM(dose) FROM prescriptions r, offers o WHERE r.drug = o.offered AND discount >= 10 "
          "GROUP BY seller"),
    Asked("SELECT seller, family, COUNT(*) FROM prescriptions r JOIN drugs USING (drug) JOIN offers o "
          "ON r.drug = o.offered GROUP BY seller, family",
          lambda d: prescriptions(d).join("drugs").join("offers", on={"prescriptions.drug": "offered"}).count()
          .by("seller", "family")),
    Asked("SELECT COUNT(*) FROM prescriptions r LEFT JOIN offers o ON r.drug = o.offered",
          lambda d: prescriptions(d).join("offers", on={"drug": "offered"}, keep=True).count()),
    Asked("SELECT COUNT(*) FROM stays s JOIN wards w ON s.ward = w.code WHERE w.ward_name LIKE '%surg%'"),
    Asked("SELECT COUNT(*) FROM stays s JOIN wards w ON w.floor = 3 AND s.ward <> w.code"),
]  # fmt: skip

WITH_ITSELF = [
    Asked("SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id WHERE b.admitted > a.discharged"),
    Asked("SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id AND b.admitted > a.admitted "
          "AND b.admitted <= a.admitted + 30",
          lambda d: stays(d)
          .join("stays", name="b", where="b.admitted > stays.admitted AND b.admitted <= stays.admitted + 30")
          .count()),
    Asked("SELECT a.ward, COUNT(*) FROM stays a, stays b WHERE a.patient_id = b.patient_id "
          "AND b.admitted BETWEEN a.discharged AND a.discharged + INTERVAL '30' DAY GROUP BY a.ward"),
    Asked("SELECT COUNT(DISTINCT a.patient_id) FROM stays a JOIN stays b ON a.patient_id = b.patient_id "
          "WHERE a.ward = 'a1' AND b.ward = 'b1'"),
    Asked("SELECT COUNT(*) FROM measurements a JOIN measurements b ON a.stay_id = b.stay_id "
          "WHERE a.kind = 'pulse' AND b.kind = 'pressure' AND a.taken = b.taken",
          lambda d: measurements(d)
          .join("measurements", name="b",
          where="measurements.kind = 'pulse' AND b.kind = 'pressure' AND measurements.taken = b.taken").count()),
    Asked("SELECT AVG(b.value - a.value) FROM measurements a JOIN measurements b ON a.stay_id = b.stay_id "
          "AND a.kind = 'pulse' AND b.kind = 'pulse' AND b.taken > a.taken",
          lambda d: measurements(d).join("measurements", name="b", where="b.taken > measurements.taken")
          .mean("b.value - measurements.value").where("measurements.kind = 'pulse' AND b.kind = 'pulse'")),
    Asked("SELECT COUNT(*) FROM prescriptions a JOIN prescriptions b ON a.taker = b.taker WHERE a.drug = 1 "
          "AND b.drug = 2 AND b.started < a.started + a.days AND a.started < b.started + b.days"),
    Asked("SELECT d1.family, d2.family, COUNT(*) FROM prescriptions a JOIN prescriptions b ON a.taker = b.taker "
          "JOIN drugs d1 ON a.drug = d1.drug JOIN drugs d2 ON b.drug = d2.drug WHERE a.started < b.started "
          "GROUP BY d1.family, d2.family"),
    Asked("SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id JOIN stays c "
          "ON c.patient_id = b.patient_id WHERE a.admitted < b.admitted AND b.admitted < c.admitted",
          lambda d: stays(d).join("stays", name="b", where="stays.admitted < b.admitted")
          .join("stays", name="c", where="b.admitted < c.admitted").count()),
]  # fmt: skip

LEFT_JOINS = [
    Asked("SELECT COUNT(*) FROM patients LEFT JOIN stays USING (patient_id)",
          lambda d: d.join("stays", keep=True).count()),
    Asked("SELECT sex, COUNT(*) FROM patients LEFT JOIN stays USING (patient_id) GROUP BY sex",
          lambda d: d.join("stays", keep=True).count().by("sex")),
    Asked("SELECT COALESCE(ward, 'none'), COUNT(*) FROM patients p LEFT JOIN stays s ON p.patient_id = s.patient_id "
          "GROUP BY COALESCE(ward, 'none')"),
    Asked("SELECT COUNT(*) FROM stays LEFT JOIN measurements USING (stay_id)",
          lambda d: stays(d).join("measurements", keep=True).count()),
    Asked("SELECT COUNT(*) FROM stays s LEFT JOIN measurements m ON s.stay_id = m.stay_id AND m.kind = 'pulse'"),
    Asked("SELECT COUNT(*) FROM stays s LEFT JOIN measurements m ON s.stay_id = m.stay_id AND m.taken > s.discharged "
          "WHERE m.taken IS NULL",
          lambda d: stays(d).join("measurements", keep=True, where="taken > discharged").count()
          .where("taken IS NULL")),
    Asked("SELECT COUNT(*) FROM patients p LEFT JOIN stays s ON p.patient_id = s.patient_id AND s.urgent = TRUE "
          "LEFT JOIN measurements m ON m.stay_id = s.stay_id",
          lambda d: d.join("stays", keep=True, where="urgent").join("measurements", keep=True).count()),
]  # fmt: skip

JOINED: list[Asked] = [*ONE_TABLE, *ALONG_KEYS, *WITH_PUBLIC, *WITH_ITSELF, *LEFT_JOINS]
