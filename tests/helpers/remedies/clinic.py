"""Questions to the clinic of the corpus about columns and rows, and what their remedies lead to."""

from __future__ import annotations

from tests.helpers.remedies.followed import Followed, followed

TAKEN = "visits JOIN prescriptions ON visits.patient = prescriptions.taker"
COUNT = "SELECT COUNT(*) FROM visits"

NAMES = [
    followed("SELECT AVG(ages) FROM visits", "SELECT AVG(age) FROM visits"),
    followed("SELECT COUNT(*) FROM visit", COUNT),
    followed(
        "SELECT COUNT(*) FROM visits WHERE hospital = 'north'", "SELECT COUNT(*) FROM visits WHERE clinic = 'north'"
    ),
    followed(
        "SELECT ward2, COUNT(*) FROM visits GROUP BY ward2",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    ),
    followed("SELECT AVG(w.age) FROM visits v", "SELECT AVG(age) FROM visits v"),
    followed("SELECT COUNT(*) FROM visits WHERE clinic = 'nort'", "SELECT COUNT(*) FROM visits WHERE clinic = 'north'"),
    followed("SELECT COUNT(*) FROM visits WHERE clinic = 'east'", "SELECT COUNT(*) FROM visits WHERE clinic = 'West'"),
    followed("SELECT COUNT(*) FROM visits WHERE ward = '1'", "SELECT COUNT(*) FROM visits WHERE ward = 1"),
    followed(
        'SELECT COUNT(*) FROM visits WHERE clinic = "north"', "SELECT COUNT(*) FROM visits WHERE clinic = 'north'"
    ),
    followed(
        "SELECT AVG(age) AS m, COUNT(*) AS m FROM visits",
        "SELECT AVG(age) AS m, COUNT(*) AS n FROM visits",
    ),
    followed(f"SELECT AVG(cost) FROM {TAKEN}", f"SELECT AVG(visits.cost) FROM {TAKEN}"),
    followed(f"SELECT AVG(prescriptions.age) FROM {TAKEN}", f"SELECT AVG(prescriptions.dose) FROM {TAKEN}"),
    followed(
        "SELECT AVG(m) FROM (SELECT age AS n FROM visits) AS t",
        "SELECT AVG(n) FROM (SELECT age AS n FROM visits) AS t",
    ),
    followed(
        "SELECT AVG(age) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
    ),
    followed("SELECT COUNT(*) FROM visits JOIN staff USING (patient)", f"SELECT COUNT(*) FROM {TAKEN}"),
    followed("SELECT AVG(age) AS 'm' FROM visits", "SELECT AVG(age) AS m FROM visits"),
    followed(
        "SELECT COUNT(*) FROM visits JOIN prescriptions ON visits.patient = prescriptions.taker WHERE DRUG = 'INSULIN'",
        f"SELECT COUNT(*) FROM {TAKEN} WHERE drug = 'insulin'",
    ),
]

UNITS = [
    followed("SELECT patient, COUNT(*) FROM visits GROUP BY patient", "SELECT COUNT(DISTINCT patient) FROM visits"),
    followed("SELECT AVG(patient) FROM visits", "SELECT COUNT(DISTINCT patient) FROM visits"),
    followed("SELECT COUNT(*) FROM visits WHERE patient = 17", "SELECT COUNT(DISTINCT patient) FROM visits"),
    followed("SELECT * FROM visits", COUNT),
    followed(
        "SELECT age FROM visits",
        "SELECT age FROM visits GROUP BY age",
        "SELECT age, COUNT(*) FROM visits GROUP BY age",
    ),
    followed("SELECT DISTINCT clinic FROM visits", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    followed(
        "SELECT clinic, age, COUNT(*) FROM visits GROUP BY clinic",
        "SELECT clinic, age, COUNT(*) FROM visits GROUP BY clinic, age",
    ),
    followed("SELECT COUNT(DISTINCT cost) FROM visits", "SELECT COUNT(cost) FROM visits"),
    followed("SELECT COUNT(DISTINCT clinic, sex) FROM visits", "SELECT COUNT(DISTINCT patient) FROM visits"),
    followed(
        f"SELECT COUNT(DISTINCT prescriptions.taker) FROM visits LEFT JOIN {TAKEN[12:]}",
        f"SELECT COUNT(DISTINCT visits.patient) FROM visits LEFT JOIN {TAKEN[12:]}",
    ),
]

FUNCTIONS = [
    followed("SELECT STRING_AGG(clinic, ',') FROM visits", COUNT),
    followed("SELECT AVG(SQRT(cost)) FROM visits", "SELECT AVG(ROUND(cost)) FROM visits"),
    followed("SELECT AVG(cost / age) FROM visits", "SELECT SUM(cost), SUM(age) FROM visits"),
    followed("SELECT AVG(cost / 0) FROM visits", "SELECT AVG(cost / 10) FROM visits"),
    followed(
        "SELECT COUNT(*) FROM visits WHERE CAST(ward AS DATE) = '1'",
        "SELECT COUNT(*) FROM visits WHERE ward = '1'",
        "SELECT COUNT(*) FROM visits WHERE ward = 1",
    ),
    followed("SELECT AVG(MONTH(age)) FROM visits", "SELECT AVG(MONTH(admitted)) FROM visits"),
    followed(
        "SELECT HOUR(admitted), COUNT(*) FROM visits GROUP BY HOUR(admitted)",
        "SELECT DAY(admitted), COUNT(*) FROM visits GROUP BY DAY(admitted)",
    ),
    followed(
        "SELECT DAYOFWEEK(admitted), COUNT(*) FROM visits GROUP BY 1",
        "SELECT WEEKDAY(admitted), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT DATE_TRUNC('decade', admitted), COUNT(*) FROM visits GROUP BY 1",
        "SELECT DATE_TRUNC('month', admitted), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT UPPER(age), COUNT(*) FROM visits GROUP BY UPPER(age)",
        "SELECT UPPER(clinic), COUNT(*) FROM visits GROUP BY UPPER(clinic)",
    ),
    followed("SELECT AVG(clinic) FROM visits", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT SUM(clinic + 1) FROM visits", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT SUM(admitted) FROM visits", "SELECT AVG(admitted) FROM visits"),
    followed("SELECT SUM(admitted) FROM visits", "SELECT SUM(discharged - admitted) FROM visits"),
    followed("SELECT AVG(age > 60) FROM visits", "SELECT PROPORTION(age > 60) FROM visits"),
    followed("SELECT AVG(age > 60) FROM visits", "SELECT AVG(CASE WHEN age > 60 THEN 1 ELSE 0 END) FROM visits"),
    followed("SELECT SUM(DISTINCT cost) FROM visits", "SELECT SUM(cost) FROM visits"),
    followed("SELECT AVG(age, cost) FROM visits", "SELECT AVG(age) FROM visits"),
    followed("SELECT QUANTILE(age) FROM visits", "SELECT QUANTILE(age, 0.9) FROM visits"),
    followed("SELECT QUANTILE(age, 90) FROM visits", "SELECT QUANTILE(age, 0.9) FROM visits"),
    followed("SELECT QUANTILE(age, cost) FROM visits", "SELECT QUANTILE(age, 0.9) FROM visits"),
    followed("SELECT QUANTILES(age) FROM visits", "SELECT QUANTILES(age, 0.25, 0.5, 0.75) FROM visits"),
    followed("SELECT 1 + QUANTILES(age, 0.5, 0.9) FROM visits", "SELECT 1 + QUANTILE(age, 0.5) FROM visits"),
    followed("SELECT 1 + HISTOGRAM(age, 3) FROM visits", "SELECT HISTOGRAM(age, 3) FROM visits"),
    followed("SELECT HISTOGRAM(age, 0) FROM visits", "SELECT HISTOGRAM(age, 10) FROM visits"),
    followed("SELECT HISTOGRAM(age, 2.5) FROM visits", "SELECT HISTOGRAM(age, 10) FROM visits"),
    followed("SELECT HISTOGRAM(clinic, 3) FROM visits", "SELECT HISTOGRAM(clinic) FROM visits"),
    followed("SELECT CDF(clinic) FROM visits", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT CORR(age, age) FROM visits", "SELECT CORR(age, cost) FROM visits"),
    followed("SELECT ROUND(AVG(age), 1, 2) FROM visits", "SELECT ROUND(AVG(age), 1) FROM visits"),
    followed("SELECT ROUND(AVG(age), 'a') FROM visits", "SELECT ROUND(AVG(age), 2) FROM visits"),
    followed("SELECT AVG(ROUND(age, 99)) FROM visits", "SELECT AVG(ROUND(age, 2)) FROM visits"),
    followed("SELECT AVG(ABS(age, cost)) FROM visits", "SELECT AVG(ABS(age)) FROM visits"),
    followed("SELECT AVG(admitted * 2) FROM visits", "SELECT AVG(MONTH(admitted) * 2) FROM visits"),
    followed("SELECT AVG(admitted + cost) FROM visits", "SELECT AVG(admitted + FLOOR(cost)) FROM visits"),
    followed("SELECT AVG(LEAST(admitted, age)) FROM visits", "SELECT AVG(LEAST(cost, age)) FROM visits"),
    followed(
        "SELECT AVG(CASE WHEN age > 3 THEN 'a' ELSE 2 END) FROM visits",
        "SELECT AVG(CASE WHEN age > 3 THEN 1 ELSE 2 END) FROM visits",
    ),
    followed(
        "SELECT AVG(CASE age > 3 WHEN 1 THEN 2 END) FROM visits",
        "SELECT AVG(CASE WHEN age > 3 THEN 1 ELSE 2 END) FROM visits",
    ),
    followed(
        "SELECT AVG(admitted + INTERVAL '1' MONTH) FROM visits",
        "SELECT AVG(admitted + INTERVAL '30' DAY) FROM visits",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE admitted > DATE '2026-01-01' + INTERVAL '1' HOUR",
        "SELECT COUNT(*) FROM visits WHERE admitted > DATE '2026-01-01' + INTERVAL '3' MONTH",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE admitted > 3 + INTERVAL '3' MONTH",
        "SELECT COUNT(*) FROM visits WHERE admitted > DATE '2025-12-31' + INTERVAL '3' MONTH",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE admitted < DATE '2026-01-01' + INTERVAL '9999' YEAR",
        "SELECT COUNT(*) FROM visits WHERE admitted < DATE '2026-01-01' + INTERVAL '1' YEAR",
    ),
    followed("SELECT AVG(age * 1e200) FROM visits", "SELECT AVG(age * 1e10) FROM visits"),
]

CONDITIONS = [
    followed("SELECT COUNT(*) FROM visits WHERE age", "SELECT COUNT(*) FROM visits WHERE age = 30"),
    followed("SELECT COUNT(*) FROM visits WHERE clinic > 'm'", "SELECT COUNT(*) FROM visits WHERE clinic <> 'north'"),
    followed("SELECT COUNT(*) FROM visits WHERE age = 'old'", "SELECT COUNT(*) FROM visits WHERE age = 65"),
    followed("SELECT COUNT(*) FROM visits WHERE age LIKE '6%'", "SELECT COUNT(*) FROM visits WHERE age >= 60"),
    followed(
        "SELECT COUNT(*) FROM visits WHERE admitted > 'soon'",
        "SELECT COUNT(*) FROM visits WHERE admitted > '2026-11-30'",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE admitted > '2026-02-30'",
        "SELECT COUNT(*) FROM visits WHERE admitted > '2026-02-28'",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE admitted > DATE 2026",
        "SELECT COUNT(*) FROM visits WHERE admitted > '2026-02-28'",
    ),
    followed("SELECT COUNT(*) FROM visits WHERE age > clinic", "SELECT COUNT(*) FROM visits WHERE age = 3"),
    followed(
        "SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)",
        "SELECT COUNT(*) FROM visits WHERE age > 47",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM prescriptions)",
        "SELECT COUNT(*) FROM visits WHERE EXISTS "
        "(SELECT 1 FROM prescriptions WHERE visits.patient = prescriptions.taker)",
    ),
    followed("SELECT COUNT(*) FROM visits WHERE AVG(age) > 50", "SELECT COUNT(*) FROM visits HAVING AVG(age) > 50"),
    followed(
        "SELECT COUNT(*) FROM visits WHERE clinic SIMILAR TO 'n.*'",
        "SELECT COUNT(*) FROM visits WHERE clinic LIKE 'n%'",
    ),
    followed("SELECT COUNT(*) FROM visits WHERE age = NULL", "SELECT COUNT(*) FROM visits WHERE age IS NULL"),
    followed(
        "SELECT COUNT(*) FROM visits WHERE urgent IS 5",
        "SELECT COUNT(*) FROM visits WHERE urgent = 5",
        "SELECT COUNT(*) FROM visits WHERE urgent = true",
    ),
    followed("SELECT COUNT(*) FROM visits WHERE clinic LIKE 3", "SELECT COUNT(*) FROM visits WHERE clinic LIKE 'n%'"),
    followed("SELECT COUNT(*) FROM visits WHERE age IN (cost)", "SELECT COUNT(*) FROM visits WHERE age IN (17, 18)"),
    followed("SELECT COUNT(*) FROM visits WHERE age BETWEEN cost", "SELECT COUNT(*) FROM visits"),
    followed(
        f"SELECT COUNT(*) FROM visits WHERE age = {'1' * 500}",
        "SELECT COUNT(*) FROM visits WHERE age = 1",
    ),
    followed("SELECT COUNT(*) FROM visits WHERE age = 1_0", "SELECT COUNT(*) FROM visits WHERE age = 10"),
    followed(
        f"SELECT COUNT(*) FROM visits WHERE age IN ({', '.join(map(str, range(2000)))})",
        "SELECT COUNT(*) FROM visits WHERE age IN (1, 2)",
    ),
    followed(
        f"SELECT COUNT(*) FROM visits WHERE {' OR '.join(['age = 1'] * 1200)}",
        "SELECT COUNT(*) FROM visits WHERE age = 1",
    ),
]

CASES: list[Followed] = [*NAMES, *UNITS, *FUNCTIONS, *CONDITIONS]
