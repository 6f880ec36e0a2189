"""Questions about rows made of rows, and over joins."""

from __future__ import annotations

from inbounds.query import Dataset, case, column
from tests.helpers.corpus.asked import AGE, CLINIC, PAIN, SEX, Asked

N, DOSE, BEDS, REGION = column("n"), column("dose"), column("beds"), column("region")


def per_visitor(d: Dataset) -> Dataset:
    """Return one row for each patient: how many visits, and the greatest age."""
    return d.per_unit(n="COUNT(*)", oldest="MAX(age)")


def taken(d: Dataset) -> Dataset:
    """Return visits with the prescriptions of the same patient."""
    return d.join("prescriptions")


def placed(d: Dataset) -> Dataset:
    """Return visits with what is known of their clinic."""
    return d.join("clinics", on="clinic")


VISITORS = "(SELECT patient, COUNT(*) AS n, MAX(age) AS oldest FROM visits GROUP BY patient) AS t"
TAKEN = "visits JOIN prescriptions ON visits.patient = prescriptions.taker"
PLACED = "visits JOIN clinics ON visits.clinic = clinics.name"

UNITS = [
    Asked(f"SELECT AVG(n) FROM {VISITORS}", lambda d: per_visitor(d).mean("n")),
    Asked(f"SELECT AVG(n) FROM {VISITORS} WHERE oldest > 64", lambda d: per_visitor(d).mean("n").where("oldest > 64")),
    Asked(f"SELECT n, COUNT(*) FROM {VISITORS} GROUP BY n", lambda d: per_visitor(d).count().by("n")),
    Asked(f"SELECT COUNT(*) FROM {VISITORS} WHERE n >= 2", lambda d: per_visitor(d).count().where(N >= 2)),
    Asked(f"SELECT CORR(n, oldest) FROM {VISITORS}", lambda d: per_visitor(d).correlation("n", "oldest")),
    Asked(f"SELECT MAX(oldest - n) FROM {VISITORS}", lambda d: per_visitor(d).maximum(column("oldest") - N)),
    Asked(
        "SELECT COUNT(*) FROM (SELECT DISTINCT patient FROM visits WHERE clinic = 'north')",
        lambda d: d.per_unit(where=CLINIC == "north").count(),
    ),
    Asked(
        "SELECT COUNT(DISTINCT patient) FROM (SELECT DISTINCT patient FROM visits)",
        lambda d: d.per_unit().count_units(),
    ),
    Asked(
        "SELECT MEDIAN(spent) FROM (SELECT patient, LEAST(SUM(cost), 800) AS spent FROM visits GROUP BY patient) AS t",
        lambda d: d.per_unit(spent="LEAST(SUM(cost), 800)").median("spent"),
    ),
    Asked(
        "SELECT HISTOGRAM(n, 5) FROM (SELECT patient, LEAST(COUNT(*), 24) AS n FROM visits GROUP BY patient) AS t",
        lambda d: d.per_unit(n="LEAST(COUNT(*), 24)").histogram("n", 5),
    ),
    Asked(
        "SELECT AVG(worst), AVG(least) FROM (SELECT patient, MAX(pain) AS worst, MIN(pain) AS least FROM visits "
        "WHERE sex = 'f' GROUP BY patient) AS t",
        lambda d: (u := d.per_unit(worst="MAX(pain)", least="MIN(pain)", where=SEX == "f")).together(
            u.mean("worst"), u.mean("least")
        ),
    ),
    Asked(
        "SELECT places, COUNT(*) FROM (SELECT patient, COUNT(DISTINCT clinic) AS places FROM visits GROUP BY patient) "
        "AS t GROUP BY places",
        lambda d: d.per_unit(places="COUNT(DISTINCT clinic)").count().by("places"),
    ),
    Asked(
        "SELECT MONTH(first), COUNT(*) FROM (SELECT patient, MIN(admitted) AS first FROM visits GROUP BY patient) AS t "
        "GROUP BY 1",
        lambda d: d.per_unit(first="MIN(admitted)").count().by(column("first").part("month")),
    ),
    Asked(
        "SELECT AVG(stay) FROM (SELECT patient, AVG(discharged - admitted) AS stay FROM visits GROUP BY patient) AS t",
        lambda d: d.per_unit(stay="AVG(discharged - admitted)").mean("stay"),
    ),
    Asked(
        "SELECT STDDEV(s) FROM (SELECT taker, GREATEST(LEAST(SUM(cost), 150), 0) AS s FROM prescriptions "
        "WHERE drug <> 'insulin' GROUP BY taker) AS t",
        lambda d: d.rows_of("prescriptions").per_unit(
            s="GREATEST(LEAST(SUM(cost), 150), 0)", where="drug <> 'insulin'"
        ).stddev("s"),
    ),
    Asked(
        "SELECT PROPORTION(n > 1) FROM (SELECT patient, COUNT(cost) AS n FROM visits WHERE age > 9 GROUP BY patient) t",
        lambda d: d.per_unit(n="COUNT(cost)", where=AGE > 9).proportion(N > 1),
    ),
]  # fmt: skip

JOINS = [
    Asked(f"SELECT drug, AVG(age) FROM {TAKEN} GROUP BY drug", lambda d: taken(d).mean("age").by("drug")),
    Asked(f"SELECT clinic, AVG(dose) FROM {TAKEN} GROUP BY clinic", lambda d: taken(d).mean("dose").by("clinic")),
    Asked(f"SELECT SUM(prescriptions.cost) FROM {TAKEN}", lambda d: taken(d).sum("prescriptions.cost")),
    Asked(
        f"SELECT COUNT(*) FROM {TAKEN} WHERE started > admitted AND visits.cost > prescriptions.cost",
        lambda d: (
            taken(d)
            .count()
            .where((column("started") > column("admitted")) & (column("visits.cost") > column("prescriptions.cost")))
        ),
    ),
    Asked(
        f"SELECT COUNT(DISTINCT patient) FROM {TAKEN} WHERE dose >= 100",
        lambda d: taken(d).count_units().where(DOSE >= 100),
    ),
    Asked(f"SELECT CORR(age, dose) FROM {TAKEN}", lambda d: taken(d).correlation("age", "dose")),
    Asked(
        f"SELECT QUANTILE(dose, 0.9) FROM {TAKEN} WHERE sex = 'm'",
        lambda d: taken(d).quantile("dose", 0.9).where(SEX == "m"),
    ),
    Asked(
        "SELECT COUNT(*) FROM visits LEFT JOIN prescriptions ON visits.patient = prescriptions.taker "
        "WHERE dose IS NULL",
        lambda d: d.join("prescriptions", keep=True).count().where(DOSE.is_missing()),
    ),
    Asked(f"SELECT region, COUNT(*) FROM {PLACED} GROUP BY region", lambda d: placed(d).count().by("region")),
    Asked(
        f"SELECT region, sex, AVG(cost) FROM {PLACED} GROUP BY region, sex",
        lambda d: placed(d).mean("cost").by("region", "sex"),
    ),
    Asked(f"SELECT SUM(age * beds) FROM {PLACED}", lambda d: placed(d).sum(AGE * BEDS)),
    Asked(
        f"SELECT COUNT(DISTINCT region) FROM {PLACED} WHERE pain > 5",
        lambda d: placed(d).count_keys("region").where(PAIN > 5),
    ),
    Asked(
        "SELECT AVG(beds) FROM visits LEFT JOIN clinics ON visits.clinic = clinics.name WHERE urgent = TRUE",
        lambda d: d.join("clinics", on="clinic", keep=True).mean("beds").where("urgent = TRUE"),
    ),
    Asked(
        "SELECT COALESCE(region, 'inland'), COUNT(*) FROM visits LEFT JOIN clinics ON visits.clinic = clinics.name "
        "GROUP BY COALESCE(region, 'inland')",
        lambda d: d.join("clinics", on="clinic", keep=True).count().by(REGION.or_else("inland")),
    ),
    Asked(
        f"SELECT region, drug, COUNT(*) FROM {TAKEN} JOIN clinics ON visits.clinic = clinics.name "
        "GROUP BY CUBE(region, drug)",
        lambda d: taken(d).join("clinics", on="clinic").count().by("region", "drug").with_totals(),
    ),
    Asked(
        f"SELECT UPPER(agegroup), COUNT(*) FROM {TAKEN} GROUP BY UPPER(agegroup)",
        lambda d: taken(d).count().by(column("agegroup").upper()),
    ),
    Asked(
        f"SELECT LOWER(CASE WHEN beds > 200 THEN 'Large' ELSE region END), COUNT(*) FROM {PLACED} GROUP BY 1",
        lambda d: placed(d).count().by(case((BEDS > 200, "Large"), otherwise=REGION).lower()),
    ),
    Asked(
        "SELECT AVG(age) FROM visits JOIN (SELECT taker, COUNT(*) AS n FROM prescriptions GROUP BY taker) AS t "
        "ON visits.patient = t.taker WHERE n >= 2",
        lambda d: d.join(d.rows_of("prescriptions").per_unit(n="COUNT(*)")).mean("age").where(N >= 2),
    ),
    Asked(
        "SELECT MEDIAN(m) FROM (SELECT patient, MAX(dose) AS m FROM visits JOIN prescriptions "
        "ON visits.patient = prescriptions.taker JOIN clinics ON visits.clinic = clinics.name WHERE region = 'coast' "
        "GROUP BY patient) AS t",
        lambda d: taken(d).join("clinics", on="clinic").per_unit(m="MAX(dose)", where=REGION == "coast").median("m"),
    ),
    Asked(
        f"SELECT month, SUM(visits.cost - prescriptions.cost) FROM {TAKEN} WHERE drug LIKE 'i%' GROUP BY month",
        lambda d: (
            taken(d)
            .sum(column("visits.cost") - column("prescriptions.cost"))
            .where(column("drug").like("i%"))
            .by("month")
        ),
    ),
    Asked(
        f"SELECT STDDEV(GREATEST(COALESCE(dose, 0), 20)), AVG(GREATEST(COALESCE(dose, 0), 20)) FROM {TAKEN}",
        lambda d: (t := taken(d)).together(
            t.stddev(DOSE.or_else(0).at_least(20)), t.mean(DOSE.or_else(0).at_least(20))
        ),
    ),
    Asked(
        f"SELECT MIN(visits.cost), MAX(prescriptions.cost * 2) FROM {TAKEN}",
        lambda d: (t := taken(d)).together(t.minimum("visits.cost"), t.maximum(column("prescriptions.cost") * 2)),
    ),
]

RELATED = [*UNITS, *JOINS]
