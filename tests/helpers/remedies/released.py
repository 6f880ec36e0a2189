"""Questions about what is released that are refused, and what their remedies lead to; all about the clinic."""

from __future__ import annotations

from tests.helpers.remedies.followed import Followed, followed

BY_CLINIC = "(SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic)"

CASES: list[Followed] = [
    followed(
        "PIVOT visits ON clinic USING COUNT(*)",
        "PIVOT visits ON clinic USING COUNT(*) GROUP BY sex",
    ),
    followed(
        f"SELECT MAX(m) FROM {BY_CLINIC} AS t(place, m)",
        "SELECT MAX(m) FROM (SELECT clinic AS place, COUNT(*) AS m FROM visits GROUP BY clinic) AS t",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT patient, (SELECT 1) AS x FROM visits) AS t WHERE x > 3",
        "SELECT COUNT(*) FROM (SELECT patient, age - 1 AS x FROM visits) AS t WHERE x > 3",
    ),
    followed(
        "SELECT COUNT(*) FROM visits v JOIN (SELECT patient, MAX(age) AS m FROM visits) AS t ON v.patient = t.patient",
        "SELECT COUNT(*) FROM visits v JOIN (SELECT patient, MAX(age) AS m FROM visits GROUP BY patient) AS t "
        "ON v.patient = t.patient",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE age BETWEEN ASYMMETRIC 3 AND 5",
        "SELECT COUNT(*) FROM visits WHERE age BETWEEN 3 AND 5",
    ),
    followed(
        "SELECT STRFTIME(admitted, '%Q'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT STRFTIME(admitted, '%Y-%m'), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT clinic, MODE(sex), COUNT(*) FROM visits GROUP BY clinic",
        "SELECT clinic, MODE(sex) FROM visits GROUP BY clinic",
    ),
    followed("SELECT ARG_MAX(clinic, age) FROM visits", f"SELECT ARG_MAX(clinic, n) FROM {BY_CLINIC} AS t"),
    followed(
        "SELECT ARG_MAX(clinic, clinic) OVER (), COUNT(*) FROM visits GROUP BY clinic",
        "SELECT ARG_MAX(clinic, COUNT(*)) OVER (), COUNT(*) FROM visits GROUP BY clinic",
    ),
    followed("SELECT DISTINCT patient FROM visits", "SELECT COUNT(DISTINCT patient) FROM visits"),
    followed("SELECT patient FROM visits", "SELECT COUNT(DISTINCT patient) FROM visits"),
    followed("SELECT DISTINCT age FROM visits", "SELECT HISTOGRAM(age, 10) FROM visits"),
    followed("SELECT age FROM visits GROUP BY age", "SELECT HISTOGRAM(age, 10) FROM visits"),
    followed(
        "SELECT DISTINCT ON (clinic) clinic, age FROM visits",
        "SELECT clinic, AVG(age) FROM visits GROUP BY clinic",
    ),
    followed(
        "SELECT DISTINCT COUNT(*) FROM visits GROUP BY clinic",
        "SELECT DISTINCT clinic, COUNT(*) FROM visits GROUP BY clinic",
    ),
    followed(
        f"SELECT DISTINCT clinic FROM {BY_CLINIC} AS t WHERE n > 3",
        f"SELECT clinic FROM {BY_CLINIC} AS t WHERE n > 3 GROUP BY clinic",
    ),
    followed(
        f"SELECT n FROM (SELECT clinic FROM visits GROUP BY clinic) AS a JOIN {BY_CLINIC} AS b ON a.clinic = b.clinic",
        f"SELECT b.n FROM {BY_CLINIC} AS a JOIN {BY_CLINIC} AS b ON a.clinic = b.clinic",
    ),
    followed(
        "SELECT age FROM (SELECT HISTOGRAM(age, 10) FROM visits) AS t",
        "SELECT age, count FROM (SELECT HISTOGRAM(age, 10) FROM visits) AS t",
    ),
    followed("SELECT VARIANCE(age > 60) FROM visits", "SELECT PROPORTION(age > 60) FROM visits"),
    followed(
        "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (REST())",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (), REST())",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (), REST(clinic))",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (), REST())",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (), REST(), REST())",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (), REST())",
    ),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic, REST()",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), (), REST())",
    ),
]

TRIPS: list[Followed] = [
    followed(
        "SELECT COUNT(*) FROM trips WHERE zone IN (SELECT zone FROM trips GROUP BY zone HAVING COUNT(*) > 3)",
        "SELECT COUNT(*) FROM trips",
    ),
]
