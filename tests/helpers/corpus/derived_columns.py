"""Questions about columns made of columns."""

from __future__ import annotations

from math import ceil

from inbounds.query import case, column, expression
from tests.helpers.corpus.asked import ADMITTED, AGE, CLINIC, COST, DISCHARGED, PAIN, SEX, WARD, Asked

DECADE = AGE // 10 * 10
PRICE = case((AGE < 18, 0), (AGE >= 65, COST / 2), otherwise=COST)

DERIVED_COLUMNS = [
    Asked("SELECT AVG(discharged - admitted) FROM visits", lambda d: d.mean(DISCHARGED - ADMITTED)),
    Asked("SELECT SUM(cost * 1.19 - 3) FROM visits", lambda d: d.sum(COST * 1.19 - 3)),
    Asked("SELECT SUM(cost * age) FROM visits", lambda d: d.sum(COST * AGE)),
    Asked("SELECT AVG(-pain) FROM visits", lambda d: d.mean(-PAIN)),
    Asked("SELECT AVG(pain / 3 + age / 4) FROM visits", lambda d: d.mean(PAIN / 3 + AGE / 4)),
    Asked("SELECT AVG(ABS(age - 40)) FROM visits", lambda d: d.mean(abs(AGE - 40))),
    Asked("SELECT SUM(LEAST(cost, 100)) FROM visits", lambda d: d.sum(COST.at_most(100))),
    Asked("SELECT SUM(GREATEST(cost - 50, 0)) FROM visits", lambda d: d.sum((COST - 50).at_least(0))),
    Asked("SELECT MEDIAN(ROUND(pain)) FROM visits", lambda d: d.median(round(PAIN, 0))),
    Asked("SELECT SUM(ROUND(pain * cost, 1)) FROM visits", lambda d: d.sum(round(PAIN * COST, 1))),
    Asked("SELECT SUM(CEIL(cost / 7)) FROM visits", lambda d: d.sum(ceil(COST / 7))),
    Asked("SELECT AVG(COALESCE(cost, 0)) FROM visits", lambda d: d.mean(COST.or_else(0))),
    Asked(
        "SELECT SUM(CASE WHEN age < 18 THEN 0 WHEN age >= 65 THEN cost / 2 ELSE cost END) FROM visits",
        lambda d: d.sum(PRICE),
    ),
    Asked("SELECT month, COUNT(*) FROM visits GROUP BY month", lambda d: d.count().by("month")),
    Asked("SELECT agegroup, AVG(cost) FROM visits GROUP BY agegroup", lambda d: d.mean("cost").by("agegroup")),
    Asked(
        "SELECT FLOOR(age / 10) * 10, COUNT(*) FROM visits GROUP BY FLOOR(age / 10) * 10",
        lambda d: d.count().by(DECADE),
    ),
    Asked("SELECT age // 10 * 10, COUNT(*) FROM visits GROUP BY 1", lambda d: d.count().by(DECADE)),
    Asked(
        "SELECT EXTRACT(quarter FROM admitted), SUM(cost) FROM visits GROUP BY EXTRACT(quarter FROM admitted)",
        lambda d: d.sum("cost").by(ADMITTED.part("quarter")),
    ),
    Asked(
        "SELECT WEEKDAY(admitted), COUNT(*) FROM visits GROUP BY 1", lambda d: d.count().by(ADMITTED.part("weekday"))
    ),
    Asked("SELECT AVG(WEEK(admitted)) FROM visits", lambda d: d.mean(ADMITTED.part("week"))),
    Asked("SELECT YEAR(discharged), COUNT(*) FROM visits GROUP BY 1", lambda d: d.count().by(DISCHARGED.part("year"))),
    Asked(
        "SELECT AVG(DAY(admitted)) FROM visits WHERE MONTH(admitted) = 2",
        lambda d: d.mean(ADMITTED.part("day")).where(ADMITTED.part("month") == 2),
    ),
    Asked(
        "SELECT DATE_TRUNC('month', admitted), AVG(age) FROM visits GROUP BY DATE_TRUNC('month', admitted)",
        lambda d: d.mean("age").by(ADMITTED.truncated("month")),
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('week', admitted) = '2026-03-30'",
        lambda d: d.count().where(ADMITTED.truncated("week") == "2026-03-30"),
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE discharged > admitted + 14",
        lambda d: d.count().where(DISCHARGED > ADMITTED + 14),
    ),
    Asked("SELECT UPPER(clinic), COUNT(*) FROM visits GROUP BY UPPER(clinic)", lambda d: d.count().by(CLINIC.upper())),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE LOWER(clinic) = 'west'", lambda d: d.count().where(CLINIC.lower() == "west")
    ),
    Asked(
        "SELECT CASE WHEN clinic LIKE '%th' THEN 'city' ELSE 'land' END, COUNT(*) FROM visits GROUP BY 1",
        lambda d: d.count().by(case((CLINIC.like("%th"), "city"), otherwise="land")),
    ),
    Asked(
        "SELECT CASE WHEN urgent = TRUE THEN 'urgent' ELSE clinic END, AVG(age) FROM visits GROUP BY 1",
        lambda d: d.mean("age").by(expression("CASE WHEN urgent = TRUE THEN 'urgent' ELSE clinic END")),
    ),
    Asked(
        "SELECT UPPER(agegroup), COUNT(*) FROM visits GROUP BY 1", lambda d: d.count().by(column("agegroup").upper())
    ),
    Asked(
        "SELECT LOWER(UPPER(drug)), COUNT(*) FROM prescriptions GROUP BY 1",
        lambda d: d.rows_of("prescriptions").count().by(column("drug").upper().lower()),
    ),
    Asked("SELECT HISTOGRAM(discharged - admitted, 6) FROM visits", lambda d: d.histogram(DISCHARGED - ADMITTED, 6)),
    Asked("SELECT PROPORTION(cost / 2 > age + 10) FROM visits", lambda d: d.proportion(COST / 2 > AGE + 10)),
    Asked(
        "SELECT QUANTILES(LEAST(cost, 200), 0.25, 0.75) FROM visits",
        lambda d: d.quantiles(COST.at_most(200), [0.25, 0.75]),
    ),
    Asked(
        "SELECT month, sex, COUNT(*) FROM visits WHERE month <= 3 GROUP BY ROLLUP(month, sex)",
        lambda d: d.count().where("month <= 3").groupings(("month", "sex"), ("month",), ()),
    ),
    Asked(
        "SELECT COUNT(DISTINCT UPPER(clinic)) FROM visits WHERE ward = 1",
        lambda d: d.count_keys(CLINIC.upper()).where(WARD == 1),
    ),
    Asked(
        "SELECT COUNT(*) FROM visits WHERE COALESCE(clinic, 'north') = 'north' AND COALESCE(sex, 'f') <> 'm'",
        lambda d: d.count().where((CLINIC.or_else("north") == "north") & (SEX.or_else("f") != "m")),
    ),
]
