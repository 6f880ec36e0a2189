"""Questions about what is released that are refused, and what their remedies lead to; all about the clinic."""

from __future__ import annotations

from tests.helpers.remedies.followed import Followed, followed

BY_CLINIC = "(SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic)"

CASES: list[Followed] = [
    followed(
        "PIVOT visits ON clinic USING COUNT(*) GROUP BY sex",
        "SELECT sex, clinic, COUNT(*) FROM visits GROUP BY sex, clinic",
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
    followed("SELECT VARIANCE(age > 60) FROM visits", "SELECT PROPORTION(age > 60) FROM visits"),
]

TRIPS: list[Followed] = [
    followed(
        "SELECT COUNT(*) FROM trips WHERE zone IN (SELECT zone FROM trips GROUP BY zone HAVING COUNT(*) > 3)",
        "SELECT COUNT(*) FROM trips",
    ),
]
