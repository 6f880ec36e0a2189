"""Questions with every measure, of some rows and for some groups."""

from __future__ import annotations

from tests.helpers.corpus.asked import ADMITTED, AGE, CLINIC, COST, DISCHARGED, PAIN, SEX, URGENT, WARD, Asked

MEASURES = [
    Asked("SELECT COUNT(*) FROM visits", lambda d: d.count()),
    Asked("SELECT COUNT(1) FROM visits", lambda d: d.count()),
    Asked("SELECT COUNT(cost) FROM visits", lambda d: d.count().where(~COST.is_missing())),
    Asked("SELECT COUNT(DISTINCT patient) FROM visits", lambda d: d.count_units()),
    Asked("SELECT COUNT(DISTINCT clinic) FROM visits", lambda d: d.count_keys("clinic")),
    Asked(
        "SELECT COUNT(DISTINCT agegroup) FROM visits WHERE urgent",
        lambda d: d.count_keys("agegroup").where("urgent"),
    ),
    Asked("SELECT SUM(cost) FROM visits", lambda d: d.sum("cost")),
    Asked("SELECT SUM(cost) FROM prescriptions", lambda d: d.rows_of("prescriptions").sum("cost")),
    Asked("SELECT AVG(age) FROM visits", lambda d: d.mean("age")),
    Asked("SELECT AVG(pain) FROM visits", lambda d: d.mean("pain")),
    Asked("SELECT AVG(admitted) FROM visits", lambda d: d.mean("admitted")),
    Asked("SELECT PROPORTION(age >= 65) FROM visits", lambda d: d.proportion(AGE >= 65)),
    Asked(
        "SELECT AVG(CASE WHEN clinic = 'north' AND pain > 5 THEN 1 ELSE 0 END) FROM visits",
        lambda d: d.proportion((CLINIC == "north") & (PAIN > 5)),
    ),
    Asked("SELECT MEDIAN(age) FROM visits", lambda d: d.median("age")),
    Asked("SELECT MEDIAN(discharged) FROM visits", lambda d: d.median("discharged")),
    Asked("SELECT QUANTILE(cost, 0.9) FROM visits", lambda d: d.quantile("cost", 0.9)),
    Asked("SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY pain) FROM visits", lambda d: d.quantile("pain", 0.25)),
    Asked("SELECT PERCENTILE_DISC(0.75) WITHIN GROUP (ORDER BY age) FROM visits", lambda d: d.quantile("age", 0.75)),
    Asked("SELECT QUANTILES(age, 0.1, 0.5, 0.9) FROM visits", lambda d: d.quantiles("age", [0.1, 0.5, 0.9])),
    Asked("SELECT MIN(age) FROM visits", lambda d: d.minimum("age")),
    Asked("SELECT MAX(cost) FROM visits", lambda d: d.maximum("cost")),
    Asked("SELECT MAX(discharged - admitted) FROM visits", lambda d: d.maximum(DISCHARGED - ADMITTED)),
    Asked("SELECT MIN(cost / 10 + pain) FROM visits", lambda d: d.minimum(COST / 10 + PAIN)),
    Asked("SELECT VARIANCE(age) FROM visits", lambda d: d.variance("age")),
    Asked("SELECT VAR_POP(cost) FROM visits", lambda d: d.variance("cost", population=True)),
    Asked("SELECT STDDEV(pain) FROM visits", lambda d: d.stddev("pain")),
    Asked("SELECT STDDEV_POP(age) FROM visits", lambda d: d.stddev("age", population=True)),
    Asked("SELECT STDDEV(discharged - admitted) FROM visits", lambda d: d.stddev(DISCHARGED - ADMITTED)),
    Asked("SELECT VAR_SAMP(ROUND(pain, 1) * 2) FROM visits", lambda d: d.variance(round(PAIN, 1) * 2)),
    Asked("SELECT COVAR_SAMP(age, cost) FROM visits", lambda d: d.covariance("age", "cost")),
    Asked("SELECT COVAR_POP(age, pain) FROM visits", lambda d: d.covariance("age", "pain", population=True)),
    Asked("SELECT CORR(age, cost) FROM visits", lambda d: d.correlation("age", "cost")),
    Asked(
        "SELECT CORR(discharged - admitted, cost * 2) FROM visits",
        lambda d: d.correlation(DISCHARGED - ADMITTED, COST * 2),
    ),
    Asked("SELECT HISTOGRAM(age, 12) FROM visits", lambda d: d.histogram("age", 12)),
    Asked("SELECT HISTOGRAM(pain, 5) FROM visits WHERE sex = 'f'", lambda d: d.histogram("pain", 5).where(SEX == "f")),
    Asked("SELECT HISTOGRAM(clinic) FROM visits", lambda d: d.histogram("clinic")),
    Asked("SELECT sex, HISTOGRAM(cost, 10) FROM visits GROUP BY sex", lambda d: d.histogram("cost", 10).by("sex")),
    Asked("SELECT CDF(age) FROM visits", lambda d: d.cdf("age")),
    Asked("SELECT CDF(cost, 10) FROM visits WHERE urgent = TRUE", lambda d: d.cdf("cost", 10).where("urgent = TRUE")),
]

CONDITIONS = [
    Asked(
        "SELECT COUNT(*) FROM visits WHERE age >= 65 AND sex = 'f'",
        lambda d: d.count().where((AGE >= 65) & (SEX == "f")),
    ),
    Asked("SELECT COUNT(*) FROM visits WHERE 65 <= age", lambda d: d.count().where(AGE >= 65)),
    Asked("SELECT COUNT(*) FROM visits WHERE age < 18 OR age > 64", lambda d: d.count().where((AGE < 18) | (AGE > 64))),
    Asked(
        "SELECT AVG(cost) FROM visits WHERE NOT (clinic = 'north' OR clinic = 'south')",
        lambda d: d.mean("cost").where(~((CLINIC == "north") | (CLINIC == "south"))),
    ),
    Asked("SELECT COUNT(*) FROM visits WHERE clinic <> 'north'", lambda d: d.count().where(CLINIC != "north")),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE clinic = 'St. Mary''s'", lambda d: d.count().where(CLINIC == "St. Mary's")
    ),
    Asked("SELECT COUNT(*) FROM visits WHERE ward IN (1, 30)", lambda d: d.count().where(WARD.is_in([1, 30]))),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE clinic NOT IN ('north', 'West')",
        lambda d: d.count().where(~CLINIC.is_in(["north", "West"])),
    ),
    Asked(
        "SELECT AVG(age) FROM visits WHERE pain BETWEEN 2.5 AND 7.5",
        lambda d: d.mean("age").where(PAIN.between(2.5, 7.5)),
    ),
    Asked(
        "SELECT AVG(age) FROM visits WHERE cost NOT BETWEEN 100 AND 400",
        lambda d: d.mean("age").where(~COST.between(100, 400)),
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE admitted BETWEEN '2026-04-01' AND '2026-06-30'",
        lambda d: d.count().where(ADMITTED.between("2026-04-01", "2026-06-30")),
    ),
    Asked(
        "SELECT SUM(cost) FROM visits WHERE admitted >= DATE '2026-07-01'",
        lambda d: d.sum("cost").where("admitted >= '2026-07-01'"),
    ),
    Asked("SELECT COUNT(*) FROM visits WHERE cost IS NULL", lambda d: d.count().where(COST.is_missing())),
    Asked("SELECT COUNT(*) FROM visits WHERE clinic IS NOT NULL", lambda d: d.count().where(~CLINIC.is_missing())),
    Asked("SELECT COUNT(*) FROM visits WHERE clinic LIKE '%t%'", lambda d: d.count().where(CLINIC.like("%t%"))),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE clinic NOT LIKE 'n%' AND urgent = FALSE",
        lambda d: d.count().where(~CLINIC.like("n%") & (URGENT == False)),  # noqa: E712
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE clinic ILIKE 'w%'",
        lambda d: d.count().where(CLINIC.like("w%", any_case=True)),
    ),
    Asked("SELECT COUNT(*) FROM visits WHERE admitted = discharged", lambda d: d.count().where(ADMITTED == DISCHARGED)),
    Asked("SELECT COUNT(*) FROM visits WHERE cost > age * 2", lambda d: d.count().where(COST > AGE * 2)),
    Asked(
        "SELECT COUNT(DISTINCT patient) FROM visits WHERE urgent",
        lambda d: d.count_units().where(URGENT == True),  # noqa: E712
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE NOT urgent",
        lambda d: d.count().where(~(URGENT == True)),  # noqa: E712
    ),
    Asked("SELECT COUNT(*) FROM visits WHERE cost > 1000", lambda d: d.count().where(COST > 1000)),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE urgent IS TRUE",
        lambda d: d.count().where("urgent IS TRUE"),
    ),
]

GROUPS = [
    Asked("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic", lambda d: d.count().by("clinic")),
    Asked("SELECT clinic, sex, AVG(age) FROM visits GROUP BY clinic, sex", lambda d: d.mean("age").by("clinic", "sex")),
    Asked("SELECT sex, MEDIAN(cost) FROM visits GROUP BY 1", lambda d: d.median("cost").by("sex")),
    Asked(
        "SELECT ward, SUM(cost) FROM visits WHERE age > 17 GROUP BY ward",
        lambda d: d.sum("cost").where(AGE > 17).by("ward"),
    ),
    Asked(
        "SELECT urgent, PROPORTION(sex = 'f') FROM visits GROUP BY urgent",
        lambda d: d.proportion(SEX == "f").by("urgent"),
    ),
    Asked("SELECT clinic, COUNT(DISTINCT patient) FROM visits GROUP BY clinic", lambda d: d.count_units().by("clinic")),
    Asked("SELECT sex, COUNT(DISTINCT clinic) FROM visits GROUP BY sex", lambda d: d.count_keys("clinic").by("sex")),
    Asked("SELECT clinic, STDDEV(age) FROM visits GROUP BY clinic", lambda d: d.stddev("age").by("clinic")),
    Asked("SELECT sex, CORR(age, cost) FROM visits GROUP BY sex", lambda d: d.correlation("age", "cost").by("sex")),
    Asked("SELECT clinic, MAX(age) FROM visits GROUP BY clinic", lambda d: d.maximum("age").by("clinic")),
    Asked(
        "SELECT drug, AVG(dose) FROM prescriptions GROUP BY drug",
        lambda d: d.rows_of("prescriptions").mean("dose").by("drug"),
    ),
    Asked(
        "SELECT dose, COUNT(*) FROM prescriptions GROUP BY dose",
        lambda d: d.rows_of("prescriptions").count().by("dose"),
    ),
    Asked("SELECT age, COUNT(*) FROM visits GROUP BY age", lambda d: d.count().by("age")),
    Asked(
        "SELECT clinic, sex, COUNT(*) FROM visits GROUP BY ROLLUP(clinic, sex)",
        lambda d: d.count().groupings(("clinic", "sex"), ("clinic",), ()),
    ),
    Asked(
        "SELECT sex, urgent, COUNT(*) FROM visits GROUP BY CUBE(sex, urgent)",
        lambda d: d.count().by("sex", "urgent").with_totals(),
    ),
    Asked(
        "SELECT clinic, ward, SUM(cost) FROM visits GROUP BY GROUPING SETS ((clinic), (ward), ())",
        lambda d: d.sum("cost").groupings(("clinic",), ("ward",), ()),
    ),
    Asked(
        "SELECT clinic, ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (ward), (), REST())",
        lambda d: d.count().groupings(("clinic",), ("ward",), (), rest=True),
    ),
    Asked(
        "SELECT sex, COUNT(DISTINCT patient) FROM visits WHERE age >= 18 GROUP BY ROLLUP(sex)",
        lambda d: d.count_units().where(AGE >= 18).groupings(("sex",), ()),
    ),
]

TOGETHER = [
    Asked(
        "SELECT clinic, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY clinic",
        lambda d: d.together(d.count(), d.sum("cost"), d.mean("cost")).by("clinic"),
    ),
    Asked(
        "SELECT sex, COUNT(*), AVG(age), STDDEV(age) FROM visits GROUP BY sex",
        lambda d: d.together(d.count(), d.mean("age"), d.stddev("age")).by("sex"),
    ),
    Asked(
        "SELECT CORR(age, cost), STDDEV(age), AVG(cost) FROM visits",
        lambda d: d.together(d.correlation("age", "cost"), d.stddev("age"), d.mean("cost")),
    ),
    Asked(
        "SELECT COUNT(*), COUNT(DISTINCT patient), MEDIAN(age), PROPORTION(urgent = TRUE) FROM visits WHERE sex = 'm'",
        lambda d: d.together(d.count(), d.count_units(), d.median("age"), d.proportion("urgent = TRUE")).where(
            SEX == "m"
        ),
    ),
    Asked(
        "SELECT MIN(age), MEDIAN(age), MAX(age) FROM visits",
        lambda d: d.together(d.minimum("age"), d.median("age"), d.maximum("age")),
    ),
    Asked(
        "SELECT sex, COUNT(*), SUM(cost) FROM visits GROUP BY ROLLUP(sex)",
        lambda d: d.together(d.count(), d.sum("cost")).groupings(("sex",), ()),
    ),
]

MEASURED = [*MEASURES, *CONDITIONS, *GROUPS, *TOGETHER]
