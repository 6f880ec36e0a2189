"""Questions at the limits of what is possible, and what their remedies lead to; some are about rows that are units."""

from __future__ import annotations

from pathlib import Path

from inbounds.query import Dataset, case, column
from inbounds.query.expressions.condition import Condition
from tests.helpers.remedies.followed import Followed, followed

TRIPS = """
[dataset]
name = "trips"
unit = "row"
[columns]
zone.keys = ["a", "b"]
Zone.keys = ["a", "b"]
far.bounds = "[1000000000000, 1000000001000] step 1"
big.bounds = "[0, 1e9] step 1"
day.bounds = "[0001-01-01, 9999-12-31]"
"MONTH(day)".bounds = "[1, 12] step 1"
fare.bounds = "[0, 100] step 1"
[tables.zones]
public = true
source = "FOLDER/zones.csv"
key = "code"
columns.side.keys = ["a", "b"]
[budget]
total = 1
"""


def read_only(folder: Path) -> Dataset:
    """Return a dataset of trips, each a unit of its own, whose rows are nowhere."""
    (folder / "zones.csv").write_text("code,side\na,a\nb,a\n", encoding="utf-8")
    return Dataset.parse(TRIPS.replace("FOLDER", str(folder)), ledger=folder / "ledger.db")


def either(count: int) -> Condition:
    """Return so many comparisons, one of which must be true."""
    condition: Condition = column("age") > 3
    for number in range(count):
        condition = condition | (column("age") > number)
    return condition


def nested(depth: int) -> Condition:
    """Return a condition that is nested so deep."""
    condition: Condition = column("age") > 3
    for number in range(depth):
        other = column("age") < number
        condition = condition | other if number % 2 else condition & other
    return condition


def many_joins(count: int) -> str:
    """Return a question about so many visits of one patient."""
    joins = " ".join(f"JOIN visits a{place} ON a0.patient = a{place}.patient" for place in range(1, count + 1))
    return f"SELECT COUNT(*) FROM visits a0 {joins}"


def many_parts(count: int) -> str:
    """Return a question about a sum of so many columns."""
    return f"SELECT AVG({' + '.join(['age'] * count)}) FROM visits"


TAKES = "patient IN (SELECT taker FROM prescriptions)"
UNIT = "FROM visits GROUP BY patient) AS t"

CLINIC: list[Followed] = [
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic WITH TOTALS",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic",
    ),
    followed(
        "SELECT COUNT(*) FROM visits JOIN prescriptions ON cost = dose",
        "SELECT COUNT(*) FROM visits JOIN prescriptions ON visits.cost = dose",
        "SELECT COUNT(*) FROM visits JOIN prescriptions ON visits.patient = prescriptions.taker",
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT 3 FROM prescriptions)",
        "SELECT COUNT(*) FROM visits WHERE patient IN (SELECT taker FROM prescriptions)",
    ),
    followed("SELECT QUANTILES(age, 0.5, 0.5) FROM visits", "SELECT QUANTILES(age, 0.5, 0.9) FROM visits"),
    followed(
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, cost) FROM visits",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM visits",
    ),
    followed("SELECT QUANTILE(age, '0.5') FROM visits", "SELECT QUANTILE(age, 0.9) FROM visits"),
    followed(many_joins(17), many_joins(15)),
    followed(
        f"SELECT COUNT(*) FROM (SELECT * FROM visits WHERE age > 3) AS t WHERE {TAKES}",
        f"SELECT COUNT(*) FROM (SELECT * FROM visits WHERE age > 3 AND {TAKES}) AS t",
    ),
    followed("SELECT ROUND(COUNT(*), 99) FROM visits", "SELECT ROUND(COUNT(*), 2) FROM visits"),
    followed(
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic IN (AVG(age))",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic HAVING clinic IN ('north')",
    ),
    followed(
        "SELECT HISTOGRAM(age, 3) FROM visits HAVING age > 3", "SELECT HISTOGRAM(age, 3) FROM visits WHERE age > 3"
    ),
    followed("SELECT COUNT(*) FROM visits AS v(a)", "SELECT COUNT(*) FROM visits AS v"),
    followed(lambda d: d.count().having("FOO(count) > 1"), lambda d: d.count().having("count > 1")),
    followed(many_parts(300), many_parts(20)),
    followed(
        "SELECT COUNT(*) FROM visits WHERE age IN UNNEST([1])", "SELECT COUNT(*) FROM visits WHERE age IN (17, 18)"
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE 3 BETWEEN 1 AND 2", "SELECT COUNT(*) FROM visits WHERE age BETWEEN 1 AND 2"
    ),
    followed("SELECT COUNT(*) FROM visits LIMIT 3 WITH TIES", "SELECT COUNT(*) FROM visits LIMIT 3"),
    followed(
        "SELECT COUNT(*) FROM visits WHERE clinic = ward",
        "SELECT COUNT(*) FROM visits WHERE clinic = 'north' AND ward = 1",
    ),
    followed("SELECT AVG(admitted + discharged) FROM visits", "SELECT AVG(discharged - admitted) FROM visits"),
    followed(
        "SELECT CASE WHEN age > 3 THEN clinic ELSE ward END, COUNT(*) FROM visits GROUP BY 1",
        "SELECT CASE WHEN age > 3 THEN clinic ELSE sex END, COUNT(*) FROM visits GROUP BY 1",
    ),
    followed(lambda d: d.per_unit(patient="COUNT(*)"), lambda d: d.per_unit(n="COUNT(*)").mean("n")),
    followed(
        lambda d: d.per("patient", "clinic", clinic="COUNT(*)"),
        lambda d: d.per("patient", "clinic", n="COUNT(*)").mean("n"),
    ),
    followed(
        lambda d: d.join("prescriptions").join("clinics", on="cost"),
        lambda d: d.join("prescriptions").join("clinics", on="visits.cost"),
        lambda d: d.join("prescriptions").join("clinics", on="clinic").count(),
    ),
    followed(
        f"SELECT AVG(s) FROM (SELECT patient, GREATEST(SUM(age), 1000) AS s {UNIT}",
        f"SELECT AVG(s) FROM (SELECT patient, GREATEST(SUM(age), 100) AS s {UNIT}",
    ),
    followed(
        lambda d: d.count().where(column("clinic").like(3)),  # type: ignore[arg-type]
        lambda d: d.count().where(column("clinic").like("n%")),
    ),
    followed(
        lambda d: d.mean(case(*[(column("age") < number, number) for number in range(600)], otherwise=1)),
        lambda d: d.mean(case((column("age") < 18, 0), otherwise=1)),
    ),
    followed(lambda d: d.mean(column("age") + 10**500), lambda d: d.mean(column("age") + 10)),
    followed(
        lambda d: d.mean(sum([column("age")] * 300, start=column("age"))),
        lambda d: d.mean(column("age") + column("age")),
    ),
    followed(
        "SELECT COUNT(*) FROM visits WHERE LEAST(admitted, '2026-02-30') > '2026-01-01'",
        "SELECT COUNT(*) FROM visits WHERE LEAST(admitted, '2026-02-28') > '2026-01-01'",
    ),
    followed(lambda d: d.count().where(either(600)), lambda d: d.count().where(either(3))),
    followed(lambda d: d.count().where(nested(200)), lambda d: d.count().where(nested(3))),
    followed(
        "SELECT RANK() OVER (ORDER BY COUNT(*)) FROM visits",
        "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP(clinic)",
    ),
    followed(
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) IN (AVG(age))",
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) IN (5)",
    ),
    followed(
        "SELECT QUANTILES(age, 0.1, 0.9) AS q FROM visits ORDER BY q",
        "SELECT QUANTILES(age, 0.1, 0.9) AS q FROM visits ORDER BY QUANTILE(age, 0.1)",
    ),
    followed("SELECT NULLIF(COUNT(*)) FROM visits", "SELECT NULLIF(COUNT(*), 0) FROM visits"),
]

INFIRMARY: list[Followed] = [
    followed(
        "SELECT COUNT(*) FROM drugs JOIN offers ON drugs.drug = offers.offered "
        "WHERE drugs.drug IN (SELECT drug FROM prescriptions)",
        "SELECT COUNT(*) FROM prescriptions JOIN offers ON prescriptions.drug = offers.offered",
    ),
    followed(
        "SELECT COUNT(*) FROM stays WHERE diagnosis IN (SELECT diagnosis FROM diagnoses GROUP BY diagnosis)",
        "SELECT COUNT(*) FROM stays",
    ),
    followed(
        "SELECT COUNT(*) FROM stays a WHERE EXISTS "
        "(SELECT patient_id FROM stays b WHERE b.ward = a.ward GROUP BY patient_id)",
        "SELECT COUNT(*) FROM stays a JOIN stays b ON a.patient_id = b.patient_id",
    ),
    followed(
        lambda d: d.rows_of("stays").join("wards", on="nothing"),
        lambda d: d.rows_of("stays").join("wards", on="ward").count(),
    ),
    followed(
        lambda d: d.join("stays").join("measurements", on="nothing"),
        lambda d: d.join("stays").join("measurements").count(),
    ),
    followed(
        "SELECT COUNT(*) FROM patients WHERE SUBSTRING(note, 0, 2) = 'a'",
        "SELECT COUNT(*) FROM patients WHERE SUBSTRING(note, 1, 2) = 'a'",
    ),
]

ROWS: list[Followed] = [
    followed("SELECT COUNT(*) FROM trips WHERE ZONE = 'a'", "SELECT COUNT(*) FROM trips WHERE zone = 'a'"),
    followed(
        "SELECT COUNT(*) FROM (SELECT fare, COUNT(*) AS n FROM trips GROUP BY fare) AS t",
        "SELECT fare, COUNT(*) FROM trips GROUP BY fare",
    ),
    followed("SELECT AVG(big * big * big) FROM trips", "SELECT AVG(big) FROM trips"),
    followed("SELECT AVG(fare + 100000000000000000000) FROM trips", "SELECT AVG(fare) FROM trips"),
    followed("SELECT AVG(day + fare * 100000) FROM trips", "SELECT AVG(DAY(day) + fare) FROM trips"),
    followed("SELECT COUNT(*) FROM trips a JOIN trips b ON a.zone = b.zone", "SELECT COUNT(*) FROM trips"),
    followed(lambda d: d.per_unit(n="COUNT(*)"), lambda d: d.count()),
    followed(
        "SELECT COUNT(*) FROM trips JOIN zones ON trips.zone = zones.side",
        "SELECT COUNT(*) FROM trips JOIN zones ON trips.zone = zones.code",
    ),
    followed("SELECT AVG(fare * 0) FROM trips", "SELECT AVG(fare) FROM trips"),
    followed("SELECT AVG(MONTH(day)) FROM trips", 'SELECT AVG("MONTH(day)") FROM trips'),
]
