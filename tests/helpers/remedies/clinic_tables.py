"""Questions to the clinic of the corpus about groups, joins and subqueries, and what their remedies lead to."""

from __future__ import annotations

from tests.helpers.remedies.followed import Followed, followed

TAKEN = "visits JOIN prescriptions ON visits.patient = prescriptions.taker"
COUNT = "SELECT COUNT(*) FROM visits"

GROUPS = [
    followed("SELECT cost, COUNT(*) FROM visits GROUP BY cost", "SELECT HISTOGRAM(cost, 10) FROM visits"),
    followed("SELECT clinic, COUNT(*) FROM visits GROUP BY 3", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT COUNT(*) FROM visits GROUP BY clinic, clinic", "SELECT COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT COUNT(*) FROM visits GROUP BY ROLLUP()", "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(clinic)"),
    followed(
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (clinic, ROLLUP(()))",
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (clinic)",
    ),
    followed("SELECT CDF(age), sex FROM visits GROUP BY sex", "SELECT CDF(age) FROM visits WHERE sex = 'f'"),
    followed("SELECT clinic FROM visits GROUP BY clinic", "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT COUNT(*), COUNT(*) FROM visits", COUNT),
    followed("SELECT COUNT(*) FROM visits GROUP BY COUNT(*)", "SELECT COUNT(*) FROM visits GROUP BY clinic"),
    followed("SELECT HISTOGRAM(age, 3), COUNT(*) FROM visits", "SELECT HISTOGRAM(age, 3) FROM visits"),
    followed(
        f"SELECT {', '.join(f'QUANTILE(age, 0.{place:03})' for place in range(1, 150))} FROM visits",
        "SELECT QUANTILE(age, 0.5) FROM visits",
    ),
    followed(
        "SELECT COUNT(*) FROM visits GROUP BY CUBE(clinic, sex, ward, urgent, month, agegroup, age)",
        "SELECT COUNT(*) FROM visits GROUP BY CUBE(clinic, sex)",
    ),
    followed(
        "SELECT COUNT(*) FROM visits GROUP BY age, month, clinic, ward, sex, urgent, agegroup, DAY(admitted)",
        "SELECT COUNT(*) FROM visits GROUP BY clinic, ward",
    ),
]

VIEWS = [
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING age > 5",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING count > 5",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*)",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*) > 3",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic ORDER BY 5",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic ORDER BY clinic",
    ),
    followed("SELECT COUNT(*) FROM visits LIMIT -1", "SELECT COUNT(*) FROM visits LIMIT 10"),
    followed(
        "SELECT COUNT(*) + clinic FROM visits GROUP BY clinic",
        "SELECT COUNT(*) FROM visits GROUP BY clinic ORDER BY clinic",
    ),
    followed("SELECT COUNT(*) + age FROM visits", "SELECT COUNT(*) + AVG(age) FROM visits"),
    followed("SELECT 1 FROM visits", COUNT),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic QUALIFY COUNT(*) > 1",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*) > 1",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*) > (SELECT COUNT(*) FROM prescriptions)",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING COUNT(*) > 110",
    ),
    followed("SELECT COUNT(*) FROM visits HAVING 1 > 2", "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 2"),
    followed("SELECT COUNT(*) FROM visits HAVING 1 IN (2)", "SELECT COUNT(*) FROM visits HAVING COUNT(*) IN (2)"),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic IN (COUNT(*))",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic IN ('north')",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic > 'm'",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic <> 'north'",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic = COUNT(*)",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic = 'north'",
    ),
    followed(
        "SELECT AVG(admitted) FROM visits HAVING AVG(admitted) > 'soon'",
        "SELECT AVG(admitted) FROM visits HAVING AVG(admitted) > '2026-12-31'",
    ),
    followed("SELECT COUNT(*) FROM visits ORDER BY 'a'", "SELECT COUNT(*) FROM visits ORDER BY COUNT(*)"),
    followed(
        "SELECT QUANTILES(age, 0.1, 0.9) FROM visits ORDER BY QUANTILES(age, 0.1, 0.9)",
        "SELECT QUANTILES(age, 0.1, 0.9) FROM visits ORDER BY QUANTILE(age, 0.1)",
    ),
    followed("SELECT COUNT(*) FROM visits FETCH FIRST 3 PERCENT ROWS ONLY", "SELECT COUNT(*) FROM visits LIMIT 10"),
    followed("SELECT COUNT(*) FROM visits ORDER BY LIMIT", COUNT),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic ORDER BY 2 DESC NULLS LAST",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic ORDER BY 2 DESC",
    ),
]

JOINS = [
    followed(
        "SELECT COUNT(*) FROM visits JOIN prescriptions ON visits.admitted = prescriptions.started",
        f"SELECT COUNT(*) FROM {TAKEN}",
    ),
    followed("SELECT COUNT(*) FROM visits JOIN prescriptions USING (cost)", f"SELECT COUNT(*) FROM {TAKEN}"),
    followed("SELECT COUNT(*) FROM visits JOIN prescriptions USING (patient)", f"SELECT COUNT(*) FROM {TAKEN}"),
    followed("SELECT COUNT(*) FROM visits CROSS JOIN prescriptions", f"SELECT COUNT(*) FROM {TAKEN}"),
    followed("SELECT COUNT(*) FROM visits, prescriptions", f"SELECT COUNT(*) FROM {TAKEN}"),
    followed(
        "SELECT COUNT(*) FROM visits FULL JOIN prescriptions ON visits.patient = prescriptions.taker",
        "SELECT COUNT(*) FROM visits LEFT JOIN prescriptions ON visits.patient = prescriptions.taker",
    ),
    followed(
        "SELECT COUNT(*) FROM visits JOIN clinics ON visits.ward = clinics.name",
        "SELECT COUNT(*) FROM visits JOIN clinics ON visits.clinic = clinics.name",
    ),
    followed(
        "SELECT COUNT(*) FROM visits JOIN visits USING (patient)",
        "SELECT COUNT(*) FROM visits JOIN visits AS b USING (patient)",
    ),
    followed(
        "SELECT COUNT(*) FROM visits LEFT JOIN prescriptions p ON patient = p.taker "
        "LEFT JOIN prescriptions q ON p.taker = q.taker",
        "SELECT COUNT(*) FROM visits LEFT JOIN prescriptions p ON patient = p.taker "
        "LEFT JOIN prescriptions q ON visits.patient = q.taker",
    ),
    followed(
        "SELECT COUNT(*) FROM clinics LEFT JOIN visits ON clinics.name = visits.clinic",
        "SELECT COUNT(*) FROM visits LEFT JOIN clinics ON clinics.name = visits.clinic",
    ),
    followed(
        "SELECT COUNT(*) FROM clinics", "SELECT COUNT(*) FROM visits JOIN clinics ON visits.clinic = clinics.name"
    ),
]

SUBQUERIES = [
    followed(
        "SELECT AVG(n) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic)",
        "SELECT AVG(n) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY patient, clinic)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, clinic, COUNT(*) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, clinic, COUNT(*) AS n FROM visits GROUP BY patient, clinic)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(m) FROM (SELECT patient, MEDIAN(age) AS m FROM visits GROUP BY patient)",
        "SELECT AVG(m) FROM (SELECT patient, AVG(age) AS m FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(s) FROM (SELECT patient, LEAST(SUM(cost * 1.2345678), 500) AS s FROM visits GROUP BY patient)",
        "SELECT AVG(s) FROM "
        "(SELECT patient, LEAST(SUM(ROUND(cost * 1.2345678, 1)), 500) AS s FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(s) FROM (SELECT patient, SUM(admitted) AS s FROM visits GROUP BY patient)",
        "SELECT AVG(s) FROM (SELECT patient, MAX(admitted) AS s FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT patient FROM visits UNION SELECT taker FROM prescriptions)",
        "SELECT COUNT(*) FROM (SELECT patient FROM visits)",
    ),
    followed(
        "WITH t AS (SELECT patient FROM visits UNION SELECT taker FROM prescriptions) SELECT COUNT(*) FROM t",
        "WITH t AS (SELECT patient FROM visits) SELECT COUNT(*) FROM t",
    ),
    followed(
        "WITH RECURSIVE t AS (SELECT patient FROM visits) SELECT COUNT(*) FROM t",
        "WITH t AS (SELECT patient FROM visits) SELECT COUNT(*) FROM t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT age + 1 FROM visits) AS t",
        "SELECT COUNT(*) FROM (SELECT age + 1 AS x FROM visits) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT age AS x, cost AS x FROM visits) AS t",
        "SELECT COUNT(*) FROM (SELECT age AS x, cost AS y FROM visits) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT patient, MAX(age) AS x, MIN(age) AS x FROM visits GROUP BY patient) AS t",
        "SELECT COUNT(*) FROM (SELECT patient, MAX(age) AS x, MIN(age) AS y FROM visits GROUP BY patient) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT patient, patient AS p, COUNT(*) AS n FROM visits GROUP BY patient) AS t",
        "SELECT COUNT(*) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT MAX(age) AS x FROM visits) AS t",
        "SELECT COUNT(*) FROM (SELECT MAX(age) AS x FROM visits GROUP BY patient) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT DISTINCT MAX(age) AS x FROM visits GROUP BY patient) AS t",
        "SELECT COUNT(*) FROM (SELECT MAX(age) AS x FROM visits GROUP BY patient) AS t",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, LEAST(COUNT(*), 'a') AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, LEAST(COUNT(*), 50) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, LEAST(COUNT(*)) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, LEAST(COUNT(*), 50) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, LEAST(MAX(age), 50) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(LEAST(n, 50)) FROM (SELECT patient, MAX(age) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, GREATEST(LEAST(COUNT(*), 3), 5) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, GREATEST(LEAST(COUNT(*), 5), 3) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, SUM(DISTINCT age) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, SUM(age) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, COUNT(DISTINCT clinic, sex) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(DISTINCT clinic) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, COUNT(DISTINCT cost) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(cost) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT AVG(n) FROM (SELECT patient, MAX(clinic) AS n FROM visits GROUP BY patient)",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(DISTINCT clinic) AS n FROM visits GROUP BY patient)",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE patient IN (SELECT taker, dose FROM prescriptions)",
        "SELECT COUNT(*) FROM visits WHERE patient IN (SELECT taker FROM prescriptions)",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY cost DESC LIMIT 10) AS t",
        "SELECT COUNT(*) FROM (SELECT * FROM visits WHERE cost > 400) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT 1 AS x) AS t", "SELECT COUNT(*) FROM (SELECT 1 + age AS x FROM visits) AS t"
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT AVG(age) OVER () AS x FROM visits) AS t",
        "SELECT COUNT(*) FROM (SELECT patient, AVG(age) AS x FROM visits GROUP BY patient) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT age - (SELECT AVG(age) FROM visits) AS x FROM visits) AS t",
        "SELECT COUNT(*) FROM (SELECT age - 47 AS x FROM visits) AS t",
    ),
]

STATEMENTS = [
    followed("SELECT COUNT(*) FROM visits; SELECT 2", COUNT),
    followed("DROP TABLE visits", COUNT),
    followed(
        "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM prescriptions",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM prescriptions",
    ),
    followed("SELECT COUNT(*)", COUNT),
    followed("SELECT COUNT(* FROM visits", COUNT),
    followed("SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT", COUNT),
    followed("SELECT COUNT(*) FROM read_csv('visits.csv')", COUNT),
    followed("how many visits are there?", COUNT),
    followed("", COUNT),
    followed(
        f"SELECT COUNT(*) FROM visits WHERE {'(' * 3000}age = 1{')' * 3000}",
        "SELECT COUNT(*) FROM visits WHERE age = 1",
    ),
    followed(f"{COUNT} -- {'x' * 100_000}", COUNT),
    followed(
        f"SELECT COUNT(*) FROM {'(SELECT * FROM ' * 9}visits{') AS t' * 9}",
        "SELECT COUNT(*) FROM (SELECT * FROM visits) AS t",
    ),
    followed("SELECT COUNT(*) FROM visits JOIN (VALUES (1)) AS t ON TRUE", f"SELECT COUNT(*) FROM {TAKEN}"),
]

CASES: list[Followed] = [*GROUPS, *VIEWS, *JOINS, *SUBQUERIES, *STATEMENTS]
