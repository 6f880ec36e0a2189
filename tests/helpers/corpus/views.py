"""Questions with something computed from what is released, and what plain Python makes of the released rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from inbounds.query import column
from tests.helpers.corpus.asked import Asked
from tests.helpers.corpus.related import PLACED, TAKEN, placed, taken

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class AskedAndShown(Asked):
    """A question, and what is shown of the rows that it releases."""

    plainly: Callable[[Rows], list[tuple[Any, ...]]]
    """Makes what is shown of what was released, in plain Python."""
    titles: tuple[str, ...]
    """What the columns are called that are shown."""


def quotient(a: float, b: float) -> float | None:
    """Return a quotient, None by zero."""
    return None if b == 0 else a / b


def rounded(value: float | None, digits: str) -> Any:
    """Return a number rounded half away from zero, as it is written."""
    return None if value is None else Decimal(repr(value)).quantize(Decimal(digits), ROUND_HALF_UP)


def last_if_missing(value: Any) -> tuple[bool, Any]:
    """Return what to sort by, so that what is missing comes last."""
    return value is None, 0 if value is None else value


VIEWS = [
    AskedAndShown(
        "SELECT clinic AS place, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n DESC LIMIT 2",
        lambda d: (
            d.sql("SELECT clinic AS place, COUNT(*) AS n FROM visits GROUP BY clinic")
            .order_by("n", descending=True)
            .limit(2)
        ),
        lambda rows: sorted(rows, key=lambda row: -row[1])[:2],
        ("place", "n"),
    ),
    AskedAndShown(
        "SELECT clinic, SUM(cost) / COUNT(*) AS each FROM visits GROUP BY clinic HAVING COUNT(*) > 10 ORDER BY each",
        lambda d: (
            d.together(d.sum("cost"), d.count())
            .by("clinic")
            .having("count > 10")
            .select(each="sum_cost / count")
            .order_by("each")
        ),
        lambda rows: sorted(((k, s / n) for k, s, n in rows if n > 10), key=lambda row: row[1]),
        ("clinic", "each"),
    ),
    AskedAndShown(
        "SELECT ROUND(100.0 * COUNT(*) / 12, 1) AS per_month FROM visits",
        lambda d: d.count().select(per_month="ROUND(100.0 * count / 12, 1)"),
        lambda rows: [(float(rounded(100 * rows[0][0] / 12, "0.1")),)],
        ("per_month",),
    ),
    AskedAndShown(
        "SELECT sex, CASE WHEN AVG(age) > 50 THEN 'old' ELSE 'young' END AS they FROM visits GROUP BY sex",
        lambda d: d.mean("age").by("sex").select(they="CASE WHEN mean_age > 50 THEN 'old' ELSE 'young' END"),
        lambda rows: [(k, "old" if mean > 50 else "young") for k, mean in rows],
        ("sex", "they"),
    ),
    AskedAndShown(
        "SELECT region, COUNT(*) AS n, AVG(cost) AS mean FROM visits JOIN clinics ON visits.clinic = clinics.name "
        "GROUP BY region HAVING AVG(cost) BETWEEN 1 AND 499 ORDER BY region DESC",
        lambda d: (
            (p := placed(d))
            .together(p.count(), p.mean("cost"))
            .by("region")
            .having("mean_cost BETWEEN 1 AND 499")
            .order_by("region", descending=True)
            .select(n="count", mean="mean_cost")
        ),
        lambda rows: sorted((row for row in rows if 1 <= row[2] <= 499), key=lambda row: row[0], reverse=True),
        ("region", "n", "mean"),
    ),
    AskedAndShown(
        "SELECT month, COUNT(*) AS n FROM visits GROUP BY month HAVING month <> 8 AND n > 0 ORDER BY 2 DESC, 1 LIMIT 3 "
        "OFFSET 1",
        lambda d: (
            d.count()
            .by("month")
            .having("month <> 8")
            .having("count > 0")
            .order_by("count", descending=True)
            .order_by("month")
            .select(n="count")
            .limit(3, offset=1)
        ),
        lambda rows: sorted((row for row in rows if row[0] != 8 and row[1] > 0), key=lambda r: (-r[1], r[0]))[1:4],
        ("month", "n"),
    ),
    AskedAndShown(
        "SELECT clinic, COALESCE(SUM(cost) / NULLIF(COUNT(*), 0), 0) AS each FROM visits GROUP BY clinic "
        "ORDER BY clinic DESC",
        lambda d: (
            d.together(d.sum("cost"), d.count())
            .by("clinic")
            .select(each="COALESCE(sum_cost / NULLIF(count, 0), 0)")
            .order_by("clinic", descending=True)
        ),
        lambda rows: sorted(((k, quotient(s, n) or 0) for k, s, n in rows), key=lambda row: row[0], reverse=True),
        ("clinic", "each"),
    ),
    AskedAndShown(
        "SELECT sex, LEAST(COUNT(*), 50) AS few, GREATEST(COUNT(*), 50) AS many, ABS(COUNT(*) - 50) AS off, "
        "FLOOR(COUNT(*) / 7) AS down, CEIL(COUNT(*) / 7) AS up FROM visits GROUP BY sex",
        lambda d: (
            d.count()
            .by("sex")
            .select(
                few="LEAST(count, 50)",
                many="GREATEST(count, 50)",
                off="ABS(count - 50)",
                down="FLOOR(count / 7)",
                up="CEIL(count / 7)",
            )
        ),
        lambda rows: [(k, min(n, 50), max(n, 50), abs(n - 50), n // 7, -(-n // 7)) for k, n in rows],
        ("sex", "few", "many", "off", "down", "up"),
    ),
    AskedAndShown(
        "SELECT clinic, urgent, COUNT(*) AS n FROM visits GROUP BY CUBE(clinic, urgent) HAVING clinic IS NULL "
        "OR clinic IN ('north', 'West') ORDER BY n DESC, clinic, urgent",
        lambda d: (
            d.count()
            .groupings(("clinic", "urgent"), ("clinic",), ("urgent",), ())
            .having("clinic IS NULL OR clinic IN ('north', 'West')")
            .order_by("count", descending=True)
            .order_by("clinic")
            .order_by("urgent")
            .select(n="count")
        ),
        lambda rows: sorted(
            (row for row in rows if row[0] in (None, "north", "West")),
            key=lambda row: (-row[2], last_if_missing(row[0]), last_if_missing(row[1])),
        ),
        ("clinic", "urgent", "n"),
    ),
    AskedAndShown(
        "SELECT FLOOR(age / 20) * 20 AS since, COUNT(*) AS n FROM visits GROUP BY since HAVING since < 100 "
        "ORDER BY since DESC",
        lambda d: (
            d.sql("SELECT FLOOR(age / 20) * 20 AS since, COUNT(*) AS n FROM visits GROUP BY 1")
            .having('"FLOOR(age / 20) * 20" < 100')
            .order_by('"FLOOR(age / 20) * 20"', descending=True)
        ),
        lambda rows: sorted((row for row in rows if row[0] < 100), reverse=True),
        ("since", "n"),
    ),
    AskedAndShown(
        f"SELECT drug, SUM(prescriptions.cost) / SUM(dose) AS ratio FROM {TAKEN} GROUP BY drug ORDER BY ratio DESC",
        lambda d: (
            (t := taken(d))
            .together(t.sum("prescriptions.cost"), t.sum("dose"))
            .by("drug")
            .select(ratio='"sum_prescriptions.cost" / sum_dose')
            .order_by("ratio", descending=True)
        ),
        lambda rows: sorted(
            ((k, quotient(a, b)) for k, a, b in rows),
            key=lambda row: (row[1] is None, -(row[1] or 0)),
        ),
        ("drug", "ratio"),
    ),
    AskedAndShown(
        "SELECT HISTOGRAM(age, 6) AS n FROM visits HAVING COUNT(*) > 5 ORDER BY age DESC LIMIT 3",
        lambda d: d.histogram("age", 6).having("count > 5").order_by("age", descending=True).select(n="count").limit(3),
        lambda rows: [row for row in reversed(rows) if row[1] > 5][:3],
        ("age", "n"),
    ),
]

SPELLINGS = [
    ("select count(*) from VISITS", "SELECT COUNT(*) FROM visits"),
    ("SELECT V.Clinic, Avg(v.AGE) FROM Visits v GROUP BY V.CLINIC", "SELECT clinic, AVG(age) FROM visits GROUP BY 1"),
    ('SELECT AVG("age") FROM "visits" AS v WHERE v."sex" = \'f\'', "SELECT AVG(age) FROM visits WHERE sex = 'f'"),
    ("SELECT COUNT(*) FROM visits -- all of them", "SELECT COUNT(*) FROM visits"),
    ("SELECT /* how many */ COUNT(*)\nFROM visits\nWHERE age > 64;", "SELECT COUNT(*) FROM visits WHERE age > 64"),
    ("SELECT AVG(age) FROM visits WHERE age != 30", "SELECT AVG(age) FROM visits WHERE age <> 30"),
    ("SELECT clinic c, COUNT(*) FROM visits GROUP BY c", "SELECT clinic AS c, COUNT(*) FROM visits GROUP BY clinic"),
    ("SELECT VAR_SAMP(age) FROM visits", "SELECT VARIANCE(age) FROM visits"),
    ("SELECT STDDEV_SAMP(age) FROM visits", "SELECT STDDEV(age) FROM visits"),
    ("SELECT AVG(CEILING(cost)) FROM visits", "SELECT AVG(CEIL(cost)) FROM visits"),
    ("SELECT AVG(DATE_PART('month', admitted)) FROM visits", "SELECT AVG(MONTH(admitted)) FROM visits"),
    (
        "SELECT region, COUNT(*) FROM visits INNER JOIN clinics ON clinic = clinics.name GROUP BY region",
        f"SELECT region, COUNT(*) FROM {PLACED} GROUP BY region",
    ),
    (
        "SELECT AVG(dose) FROM visits JOIN prescriptions ON prescriptions.taker = visits.patient",
        f"SELECT AVG(dose) FROM {TAKEN}",
    ),
    (
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) n FROM visits GROUP BY 1)",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS t",
    ),
]
"""Two ways to write one question in SQL."""

ALIASED = [
    ("SELECT AVG(p.dose) FROM visits AS v JOIN prescriptions AS p ON v.patient = p.taker WHERE v.age > 64",
     lambda d: taken(d).mean("dose").where(column("age") > 64)),
    ("SELECT c.region, COUNT(*) FROM visits v LEFT JOIN clinics c ON v.clinic = c.name GROUP BY c.region",
     lambda d: d.join("clinics", on="clinic", keep=True).count().by("region")),
    ("SELECT SUM(p.cost) FROM visits v JOIN prescriptions p ON v.patient = p.taker",
     lambda d: taken(d).sum("prescriptions.cost")),
]  # fmt: skip
"""Joins of tables by other names, and what has the same totals."""
