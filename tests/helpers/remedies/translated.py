"""Questions in the spellings of other databases that are refused all the same, and what their remedies lead to.

All are about the clinic of the corpus, but for days of many years, which are about trips.
"""

from __future__ import annotations

from tests.helpers.remedies.followed import Followed, followed

COUNT = "SELECT COUNT(*) FROM visits"
UNIT = "FROM visits GROUP BY patient) AS t"
FINE = "(cost * cost * cost + age / 64)"

TEXTS = [
    followed(
        "SELECT CAST(cost AS TEXT), COUNT(*) FROM visits GROUP BY 1",
        "SELECT CAST(ROUND(cost) AS TEXT), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT CAST(age * age AS TEXT), COUNT(*) FROM visits GROUP BY 1",
        "SELECT CAST(FLOOR(age * age / 100) * 100 AS TEXT), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT REPLACE(clinic, '', 'the '), COUNT(*) FROM visits GROUP BY 1",
        "SELECT REPLACE(clinic, 'north', 'south'), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT REPLACE(LPAD(clinic, 900, '.'), '.', '..'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT LEFT(LPAD(clinic, 900, '.'), 9), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT LPAD(clinic, 900) || LPAD(clinic, 900), COUNT(*) FROM visits GROUP BY 1",
        "SELECT LEFT(LPAD(clinic, 900), 9) || LEFT(LPAD(clinic, 900), 9), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT STRFTIME(admitted, '%H'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT STRFTIME(admitted, '%Y-%m'), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT LEFT(clinic, 0), COUNT(*) FROM visits GROUP BY 1",
        "SELECT LEFT(clinic, 3), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT NULLIF(clinic, sex), COUNT(*) FROM visits GROUP BY 1",
        "SELECT NULLIF(clinic, 'none'), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT NULLIF(NULLIF(sex, 'f'), 'm'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT NULLIF(NULLIF(sex, 'f'), 'x'), COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(
        "SELECT STRFTIME(admitted, '%Y-%m-%d') || STRFTIME(discharged, '%Y-%m-%d'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT LEFT(STRFTIME(admitted, '%Y-%m-%d'), 7) || LEFT(STRFTIME(discharged, '%Y-%m-%d'), 7), COUNT(*) "
        "FROM visits GROUP BY 1",
    ),
]

PRIVACY = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"

OPTIONS = [
    followed("SELECT AVG(age, contribution_bounds_per_group => (0, 100)) FROM visits", "SELECT AVG(age) FROM visits"),
    followed(
        f"{PRIVACY} (epsilon = 1, privacy_unit_column = person) COUNT(*) FROM visits",
        f"{PRIVACY} (epsilon = 1, privacy_unit_column = patient) COUNT(*) FROM visits",
    ),
    followed(
        f"{PRIVACY} (epsilon = 1, max_rows_contributed = 9) COUNT(*) FROM visits",
        f"{PRIVACY} (epsilon = 1, max_rows_contributed = 3) COUNT(*) FROM visits",
    ),
    followed(
        f"{PRIVACY} (epsilon = 1, max_groups_contributed = 9) COUNT(*) FROM visits",
        f"{PRIVACY} (epsilon = 1) COUNT(*) FROM visits",
    ),
    followed(
        f"{PRIVACY} (epsilon = 1, delta = 2) COUNT(*) FROM visits",
        f"{PRIVACY} (epsilon = 1) COUNT(*) FROM visits",
    ),
    followed(
        f"{PRIVACY} (epsilon = 1, epsilon = 2) COUNT(*) FROM visits",
        f"{PRIVACY} (epsilon = 1) COUNT(*) FROM visits",
    ),
    followed(f"{PRIVACY} (epsilon = some) COUNT(*) FROM visits", f"{PRIVACY} (epsilon = 0.5) COUNT(*) FROM visits"),
    followed(f"{PRIVACY} (epsilom = 1) COUNT(*) FROM visits", f"{PRIVACY} (epsilon = 1) COUNT(*) FROM visits"),
    followed(f"{PRIVACY} (1) COUNT(*) FROM visits", f"{PRIVACY} (epsilon = 0.5) COUNT(*) FROM visits"),
    followed(f"{PRIVACY} COUNT(*) FROM visits", f"{PRIVACY} (epsilon = 0.5) COUNT(*) FROM visits"),
]

MEASURES = [
    followed("SELECT AVG(MOD(age, cost)) FROM visits", "SELECT AVG(MOD(age, 10)) FROM visits"),
    followed("SELECT CAST(AVG(age) AS TEXT) FROM visits", "SELECT CAST(AVG(age) AS DECIMAL(9, 2)) FROM visits"),
    followed(
        "SELECT CDF(age) FILTER (WHERE sex = 'f'), COUNT(*) FROM visits",
        "SELECT CDF(age) FILTER (WHERE sex = 'f') FROM visits",
    ),
    followed(lambda d: d.mean("CAST(age AS INT)"), lambda d: d.mean("age")),
    followed(
        f"SELECT AVG(x) FROM (SELECT patient, SUM(cost) / COUNT(*) AS x {UNIT}",
        f"SELECT AVG(x) FROM (SELECT patient, AVG(cost) AS x {UNIT}",
    ),
    followed(
        lambda d: d.per_unit(n="LEAST(COUNT(*), 'a')"),
        lambda d: d.per_unit(n="LEAST(COUNT(*), 50)").mean("n"),
    ),
    followed(
        lambda d: d.per_unit(n="LEAST(COUNT(*))"),
        lambda d: d.per_unit(n="LEAST(COUNT(*), 50)").mean("n"),
    ),
    followed(
        lambda d: d.per_unit(n="LEAST(LEAST(COUNT(*), 3), 2)"),
        lambda d: d.per_unit(n="LEAST(COUNT(*), 2)").mean("n"),
    ),
    followed(
        lambda d: d.per_unit(n="GREATEST(LEAST(COUNT(*), 3), 5)"),
        lambda d: d.per_unit(n="GREATEST(LEAST(COUNT(*), 5), 3)").mean("n"),
    ),
    followed(
        f"SELECT COUNT(*) FROM (SELECT patient, SUM(clinic) AS x {UNIT}",
        f"SELECT x, COUNT(*) FROM (SELECT patient, MAX(clinic) AS x {UNIT} GROUP BY x",
    ),
    followed(
        f"SELECT x, COUNT(*) FROM (SELECT patient, ARG_MIN(clinic) AS x {UNIT} GROUP BY x",
        f"SELECT x, COUNT(*) FROM (SELECT patient, ARG_MIN(clinic, admitted) AS x {UNIT} GROUP BY x",
    ),
    followed(
        f"SELECT AVG(x) FROM (SELECT patient, ARG_MIN({FINE}, {FINE}) AS x {UNIT}",
        f"SELECT AVG(x) FROM (SELECT patient, ARG_MIN(cost, {FINE}) AS x {UNIT}",
    ),
]

CONDITIONS = [
    followed(
        f"{COUNT} WHERE admitted >= CURRENT_DATE - INTERVAL '30 days'",
        f"{COUNT} WHERE admitted >= DATE '2026-12-31' - INTERVAL '30 days'",
    ),
    followed(f"{COUNT} WHERE admitted >= DATE '9999-12-31' + 2", f"{COUNT} WHERE admitted >= DATE '2026-12-31' + 2"),
    followed(f"{COUNT} WHERE 1 = 0", COUNT),
    followed(f"{COUNT} WHERE (age, ward) = (3, 1, 2)", f"{COUNT} WHERE (age, ward) = (3, 1)"),
    followed(
        f"{COUNT} WHERE (patient, ward) NOT IN (SELECT taker, dose FROM prescriptions)",
        f"{COUNT} WHERE NOT EXISTS (SELECT * FROM prescriptions WHERE taker = patient AND dose = ward)",
    ),
    followed(
        f"{COUNT} WHERE age > 3 OR EXISTS (SELECT 1 FROM prescriptions WHERE taker < patient)",
        f"{COUNT} LEFT JOIN (SELECT taker, COUNT(*) AS n FROM prescriptions GROUP BY taker) AS h "
        "ON visits.patient = h.taker WHERE age > 3 OR h.n IS NOT NULL",
    ),
]

TABLES = [
    followed(f"WITH t AS (SELECT patient FROM visits) {COUNT}", COUNT),
    followed(
        f"{COUNT} JOIN (SELECT nme FROM clinics) AS c ON visits.clinic = c.name",
        f"{COUNT} JOIN (SELECT name FROM clinics) AS c ON visits.clinic = c.name",
    ),
    followed(
        f"{COUNT} JOIN (SELECT name, region AS beds FROM clinics WHERE beds > 3) AS c ON visits.clinic = c.name",
        f"{COUNT} JOIN (SELECT name, region AS area FROM clinics WHERE beds > 3) AS c ON visits.clinic = c.name",
    ),
    followed(
        "SELECT COUNT(*) FROM (SELECT x.* FROM visits) AS t", "SELECT COUNT(*) FROM (SELECT visits.* FROM visits) AS t"
    ),
]

CASES: list[Followed] = [*TEXTS, *OPTIONS, *MEASURES, *CONDITIONS, *TABLES]

TRIPS: list[Followed] = [
    followed(
        f"{PRIVACY} (epsilon = 1, privacy_unit_column = person) COUNT(*) FROM trips",
        f"{PRIVACY} (epsilon = 1) COUNT(*) FROM trips",
    ),
    followed(
        "SELECT STRFTIME(day, '%Y-%m-%d'), COUNT(*) FROM trips GROUP BY 1",
        "SELECT STRFTIME(day, '%Y'), COUNT(*) FROM trips GROUP BY 1",
    ),
]
