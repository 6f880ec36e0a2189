"""What is computed from released rows: windows, QUALIFY, NTILE, UNION ALL, shares of the whole, pivots."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tests.helpers.spellings.hospital import REGIONS, Hospital
from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import (
    Condition,
    Measure,
    count,
    groups,
    line,
    mean,
    n,
    share,
    table,
    total,
    where,
)

Rows = list[tuple[Any, ...]]


def by_month(h: Hospital) -> Rows:
    """Return how many visits each month has."""
    return table(h.visits, lambda v: v.admitted.month, n)


def falling(rows: Rows, place: int = 1) -> Rows:
    """Return rows by a number of theirs, the greatest first."""
    return sorted(rows, key=lambda row: -row[place])


def before(values: Sequence[Any]) -> list[Any]:
    """Return for each value the one before it."""
    return [None, *values[:-1]]


def beside(rows: Rows, values: Sequence[Any]) -> Rows:
    """Return rows with another value each."""
    return [(*row, value) for row, value in zip(rows, values, strict=True)]


def counts(rows: Rows) -> list[int]:
    """Return the last value of each row."""
    return [row[-1] for row in rows]


def in_region(region: str) -> Condition:
    """Return what is true of visits of a region."""
    return lambda visit: visit.region == region


def cost_of_quarter(quarter: int) -> Measure:
    """Return what adds up the costs of a quarter."""
    return lambda rows: total("cost")(where(rows, lambda visit: (visit.admitted.month + 2) // 3 == quarter))


OVER = [
    Asked("share-of-all", Style.POSTGRESQL,
          "SELECT ward, COUNT(*) AS n, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM visits GROUP BY "
          "ward",
          lambda h: [(ward, many, 100 * many / len(h.visits)) for ward, many in table(h.visits, "ward", n)]),
    Asked("share-within", Style.POSTGRESQL,
          "SELECT region, ward, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY region) AS part FROM visits "
          "GROUP BY region, ward",
          lambda h: [(region, ward, len(rows) / sum(v.region == region for v in h.visits))
                     for (region, ward), rows in groups(h.visits, ["region", "ward"]).items()]),
    Asked("running-sum", Style.MODE,
          "SELECT MONTH(admitted) AS m, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY MONTH(admitted)) AS so_far "
          "FROM visits GROUP BY 1 ORDER BY 1",
          lambda h: beside(by_month(h), list(accumulate(counts(by_month(h))))), ordered=True),
    Asked("running-sum-with-rows", Style.METABASE,
          "SELECT DATE_TRUNC('month', admitted) AS month, SUM(COUNT(*)) OVER (ORDER BY DATE_TRUNC('month', "
          "admitted) ROWS UNBOUNDED PRECEDING) AS count FROM visits GROUP BY DATE_TRUNC('month', admitted) ORDER "
          "BY DATE_TRUNC('month', admitted)",
          lambda h: list(zip((row[0] for row in table(h.visits, lambda v: v.admitted.replace(day=1), n)),
                             accumulate(counts(by_month(h))), strict=True)), ordered=True),
    Asked("running-sum-by-group", Style.MODE,
          "SELECT sex, QUARTER(admitted) AS q, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY QUARTER(admitted)) AS "
          "so_far FROM visits GROUP BY sex, QUARTER(admitted)",
          lambda h: [(sex, q, sum(v.sex == sex and (v.admitted.month + 2) // 3 <= q for v in h.visits))
                     for sex in "fm" for q in range(1, 5)]),
    Asked("lag", Style.MODE,
          "SELECT m, n, LAG(n, 1) OVER (ORDER BY m) AS before FROM (SELECT MONTH(admitted) AS m, COUNT(*) AS n "
          "FROM visits GROUP BY 1) AS t ORDER BY m",
          lambda h: beside(by_month(h), before(counts(by_month(h)))), ordered=True),
    Asked("lag-difference", Style.POSTGRESQL,
          "SELECT MONTH(admitted) AS m, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY MONTH(admitted)) AS change FROM "
          "visits GROUP BY MONTH(admitted) ORDER BY m",
          lambda h: [(m, None if m == 1 else many - counts(by_month(h))[m - 2]) for m, many in by_month(h)],
          ordered=True),
    Asked("lag-growth", Style.DBT,
          "with monthly as (select date_trunc('month', admitted) as month, count(*) as visits from visits group by "
          "1) select month, visits, 100.0 * (visits - lag(visits) over (order by month)) / lag(visits) over (order "
          "by month) as growth from monthly order by month",
          lambda h: [(*row, None if old is None else 100 * (row[1] - old) / old) for row, old in
                     zip(table(h.visits, lambda v: v.admitted.replace(day=1), n), before(counts(by_month(h))),
                         strict=True)], ordered=True),
    Asked("lead", Style.MODE,
          "SELECT MONTH(admitted) AS m, LEAD(COUNT(*)) OVER (ORDER BY MONTH(admitted)) AS next FROM visits GROUP "
          "BY 1",
          lambda h: [(m, counts(by_month(h))[m] if m < 12 else None) for m, _ in by_month(h)]),
    Asked("rank", Style.MODE,
          "SELECT diagnosis, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY "
          "diagnosis",
          lambda h: beside(falling(table(h.visits, "diagnosis", n)), range(1, 7))),
    Asked("dense-rank", Style.MODE,
          "SELECT ward, AVG(cost) AS usual, DENSE_RANK() OVER (ORDER BY AVG(cost) DESC) AS place FROM visits GROUP "
          "BY ward",
          lambda h: beside(falling(table(h.visits, "ward", mean("cost"))), range(1, 5))),
    Asked("row-number", Style.DBT,
          "with counts as (select region, ward, count(*) as n from visits group by 1, 2), ranked as (select *, "
          "row_number() over (partition by region order by n desc) as place from counts) select region, ward, n "
          "from ranked where place = 1",
          lambda h: [(region, *falling(table(where(h.visits, in_region(region)), "ward", n))[0])
                     for region in REGIONS]),
    Asked("percent-rank", Style.POSTGRESQL,
          "SELECT diagnosis, PERCENT_RANK() OVER (ORDER BY COUNT(*)) AS place FROM visits GROUP BY diagnosis",
          lambda h: [(row[0], place / 5) for place, row in
                     enumerate(sorted(table(h.visits, "diagnosis", n), key=lambda row: row[1]))]),
    Asked("cume-dist", Style.POSTGRESQL,
          "SELECT diagnosis, CUME_DIST() OVER (ORDER BY COUNT(*)) AS place FROM visits GROUP BY diagnosis",
          lambda h: [(row[0], (place + 1) / 6) for place, row in
                     enumerate(sorted(table(h.visits, "diagnosis", n), key=lambda row: row[1]))]),
    Asked("ntile", Style.MODE,
          "SELECT diagnosis, COUNT(*) AS n, NTILE(3) OVER (ORDER BY COUNT(*) DESC) AS third FROM visits GROUP BY "
          "diagnosis",
          lambda h: beside(falling(table(h.visits, "diagnosis", n)), [1, 1, 2, 2, 3, 3])),
    Asked("moving-mean", Style.POSTGRESQL,
          "SELECT MONTH(admitted) AS m, AVG(COUNT(*)) OVER (ORDER BY MONTH(admitted) ROWS BETWEEN 2 PRECEDING AND "
          "CURRENT ROW) AS smooth FROM visits GROUP BY 1 ORDER BY 1",
          lambda h: [(m, sum(counts(by_month(h))[max(m - 3, 0):m]) / min(m, 3)) for m in range(1, 13)], ordered=True),
    Asked("first-value", Style.POSTGRESQL,
          "SELECT MONTH(admitted) AS m, COUNT(*) * 100.0 / FIRST_VALUE(COUNT(*)) OVER (ORDER BY MONTH(admitted)) "
          "AS of_january FROM visits GROUP BY MONTH(admitted)",
          lambda h: [(m, 100 * many / by_month(h)[0][1]) for m, many in by_month(h)]),
    Asked("difference-to-the-mean", Style.MODE,
          "SELECT ward, AVG(stay) - AVG(AVG(stay)) OVER () AS more FROM visits GROUP BY ward",
          lambda h: [(ward, days - sum(row[1] for row in table(h.visits, "ward", mean("stay"))) / 4)
                     for ward, days in table(h.visits, "ward", mean("stay"))], near=0.05),
    Asked("named-window", Style.POSTGRESQL,
          "SELECT MONTH(admitted) AS m, COUNT(*) AS n, SUM(COUNT(*)) OVER w AS so_far FROM visits GROUP BY 1 "
          "WINDOW w AS (ORDER BY MONTH(admitted)) ORDER BY 1",
          lambda h: beside(by_month(h), list(accumulate(counts(by_month(h))))), ordered=True),
    Asked("qualify", Style.DUCKDB,
          "SELECT region, ward, COUNT(*) AS n FROM visits GROUP BY ALL QUALIFY ROW_NUMBER() OVER (PARTITION BY "
          "region ORDER BY n DESC) = 1",
          lambda h: [(region, *falling(table(where(h.visits, in_region(region)), "ward", n))[0])
                     for region in REGIONS],
          "SELECT region, ward, COUNT(*) AS n FROM visits GROUP BY 1, 2 QUALIFY ROW_NUMBER() OVER (PARTITION BY "
          "region ORDER BY COUNT(*) DESC) = 1"),
    Asked("qualify-rank", Style.SNOWFLAKE,
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis QUALIFY RANK() OVER (ORDER BY COUNT(*) "
          "DESC) <= 2",
          lambda h: falling(table(h.visits, "diagnosis", n))[:2]),
    Asked("pareto", Style.MODE,
          "SELECT diagnosis, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY COUNT(*) DESC) * 1.0 / SUM(COUNT(*)) OVER "
          "() AS so_far FROM visits GROUP BY diagnosis ORDER BY n DESC",
          lambda h: beside(falling(table(h.visits, "diagnosis", n)),
                           [part / len(h.visits) for part in
                            accumulate(counts(falling(table(h.visits, "diagnosis", n))))]),
          ordered=True),
]  # fmt: skip

WHOLE = [
    Asked("scalar-share", Style.MODE,
          "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS part FROM visits GROUP BY ward",
          lambda h: [(ward, many / len(h.visits)) for ward, many in table(h.visits, "ward", n)]),
    Asked("scalar-share-of-some", Style.MODE,
          "SELECT 100.0 * COUNT(*) / (SELECT COUNT(*) FROM visits) AS percent FROM visits WHERE readmitted",
          lambda h: [(100 * share(lambda v: v.readmitted)(h.visits),)]),
    Asked("scalar-mean-beside", Style.MODE,
          "SELECT ward, AVG(cost) AS usual, (SELECT AVG(cost) FROM visits) AS of_all FROM visits GROUP BY ward",
          lambda h: [(*row, mean("cost")(h.visits)) for row in table(h.visits, "ward", mean("cost"))]),
    Asked("scalars-alone", Style.MODE,
          "SELECT (SELECT COUNT(*) FROM visits WHERE sex = 'f') AS women, (SELECT COUNT(*) FROM visits WHERE sex = "
          "'m') AS men",
          lambda h: line(h.visits, count(lambda v: v.sex == "f"), count(lambda v: v.sex == "m"))),
    Asked("cross-join-total", Style.DBT,
          "with by_ward as (select ward, count(*) as n from visits group by ward), total as (select count(*) as n "
          "from visits) select by_ward.ward, by_ward.n * 1.0 / total.n as part from by_ward cross join total",
          lambda h: [(ward, many / len(h.visits)) for ward, many in table(h.visits, "ward", n)]),
    Asked("self-reference", Style.MODE,
          "WITH m AS (SELECT MONTH(admitted) AS month, COUNT(*) AS n FROM visits GROUP BY 1) SELECT a.month, a.n, "
          "b.n AS before FROM m a LEFT JOIN m b ON b.month = a.month - 1 ORDER BY a.month",
          lambda h: beside(by_month(h), before(counts(by_month(h)))), ordered=True),
    Asked("groups-above-the-mean", Style.MODE,
          "SELECT ward, AVG(cost) AS usual FROM visits GROUP BY ward HAVING AVG(cost) > (SELECT AVG(cost) FROM visits)",
          lambda h: [row for row in table(h.visits, "ward", mean("cost")) if row[1] > mean("cost")(h.visits)]),
    Asked("scalar-of-cte", Style.DBT,
          "with t as (select ward, count(*) as n from visits group by ward) select ward, n * 1.0 / (select sum(n) from "
          "t) as part from t order by part desc",
          lambda h: sorted(((ward, many / len(h.visits)) for ward, many in table(h.visits, "ward", n)),
                           key=lambda row: -row[1]), ordered=True),
    Asked("joined-measures", Style.DBT,
          "with a as (select ward, count(*) as n from visits group by ward), b as (select ward, avg(cost) as usual "
          "from visits group by ward) select a.ward, a.n, b.usual from a join b using (ward)",
          lambda h: table(h.visits, "ward", n, mean("cost"))),
    Asked("share-of-union", Style.MODE,
          "WITH t AS (SELECT 'women' AS who, COUNT(*) AS n FROM visits WHERE sex = 'f' UNION ALL SELECT 'men', "
          "COUNT(*) FROM visits WHERE sex = 'm') SELECT who, n * 1.0 / SUM(n) OVER () AS part FROM t",
          lambda h: [(who, sum(v.sex == sex for v in h.visits) / len(h.visits))
                     for who, sex in (("women", "f"), ("men", "m"))]),
    Asked("union-all-of-counts", Style.MODE,
          "SELECT 'women' AS who, COUNT(*) AS n FROM visits WHERE sex = 'f' UNION ALL SELECT 'men', COUNT(*) FROM "
          "visits WHERE sex = 'm'",
          lambda h: [("women", sum(v.sex == "f" for v in h.visits)), ("men", sum(v.sex == "m" for v in h.visits))]),
    Asked("union-all-that-overlap", Style.MODE,
          "SELECT 'all' AS which, COUNT(*) AS n FROM visits UNION ALL SELECT 'old', COUNT(*) FROM visits WHERE age "
          ">= 65 UNION ALL SELECT 'readmitted', COUNT(*) FROM visits WHERE readmitted",
          lambda h: [("all", len(h.visits)), ("old", sum(v.age >= 65 for v in h.visits)),
                     ("readmitted", sum(v.readmitted for v in h.visits))]),
    Asked("union-all-with-total", Style.MODE,
          "SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT 'total', COUNT(*) FROM visits",
          lambda h: [*table(h.visits, "ward", n), ("total", len(h.visits))]),
    Asked("union-of-tables", Style.MODE,
          "SELECT 'visits' AS what, COUNT(*) AS n FROM visits UNION ALL SELECT 'patients', COUNT(*) FROM patients",
          lambda h: [("visits", len(h.visits)), ("patients", len(h.patients))]),
]  # fmt: skip

PIVOTS = [
    Asked("pivot-by-case", Style.MODE,
          "SELECT ward, SUM(CASE WHEN sex = 'f' THEN 1 ELSE 0 END) AS f, SUM(CASE WHEN sex = 'm' THEN 1 ELSE 0 "
          "END) AS m FROM visits GROUP BY ward ORDER BY ward",
          lambda h: table(h.visits, "ward", count(lambda v: v.sex == "f"), count(lambda v: v.sex == "m")),
          ordered=True),
    Asked("pivot-by-count-case", Style.MODE,
          "SELECT diagnosis, COUNT(CASE WHEN region = 'east' THEN 1 END) AS east, COUNT(CASE WHEN region = 'north' "
          "THEN 1 END) AS north, COUNT(CASE WHEN region = 'south' THEN 1 END) AS south FROM visits GROUP BY "
          "diagnosis",
          lambda h: table(h.visits, "diagnosis", *(count(in_region(region)) for region in REGIONS))),
    Asked("pivot-of-sums", Style.MODE,
          "SELECT ward, SUM(CASE WHEN QUARTER(admitted) = 1 THEN cost END) AS q1, SUM(CASE WHEN QUARTER(admitted) "
          "= 2 THEN cost END) AS q2 FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", *(cost_of_quarter(q) for q in (1, 2)))),
    Asked("pivot-of-means", Style.MODE,
          "SELECT region, AVG(CASE WHEN readmitted THEN stay END) AS again, AVG(CASE WHEN NOT readmitted THEN stay "
          "END) AS once FROM visits GROUP BY region",
          lambda h: table(h.visits, "region", lambda rows: mean("stay")(where(rows, lambda v: v.readmitted)),
                          lambda rows: mean("stay")(where(rows, lambda v: not v.readmitted))), near=0.05),
    Asked("pivot-of-released", Style.MODE,
          "SELECT ward, MAX(CASE WHEN sex = 'f' THEN n END) AS f, MAX(CASE WHEN sex = 'm' THEN n END) AS m FROM "
          "(SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex) AS t GROUP BY ward",
          lambda h: table(h.visits, "ward", count(lambda v: v.sex == "f"), count(lambda v: v.sex == "m"))),
    Asked("pivot-statement", Style.DUCKDB, "PIVOT visits ON sex USING COUNT(*) GROUP BY ward",
          lambda h: table(h.visits, "ward", count(lambda v: v.sex == "f"), count(lambda v: v.sex == "m"))),
    Asked("survival", Style.POSTGRESQL,
          "WITH days AS (SELECT stay, COUNT(*) AS n, COUNT(*) FILTER (WHERE readmitted) AS d FROM visits GROUP BY "
          "stay), risk AS (SELECT stay, d, SUM(n) OVER (ORDER BY stay DESC) AS at_risk FROM days) SELECT stay, "
          "at_risk, 1 - d * 1.0 / at_risk AS stays_well FROM risk ORDER BY stay",
          lambda h: [(stay, left, 1 - again / left) for stay, left, again in (
              (days, sum(v.stay >= days for v in h.visits), sum(v.stay == days and v.readmitted for v in h.visits))
              for days in range(31)) if left]),
    Asked("dispersion-of-released", Style.MODE,
          "WITH t AS (SELECT region, ward, AVG(stay) AS days FROM visits GROUP BY region, ward) SELECT region, "
          "MAX(days) - MIN(days) AS spread FROM t GROUP BY region",
          lambda h: [(region, max(days) - min(days)) for region in REGIONS for days in [[row[1] for row in table(
              where(h.visits, in_region(region)), "ward", mean("stay"))]]], near=0.05),
]  # fmt: skip

ASKED = [*OVER, *WHOLE, *PIVOTS]
