"""The SQL that Superset and Metabase write for charts, in the shapes in which they write it."""

from __future__ import annotations

from datetime import date
from itertools import accumulate

from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import count, distinct, line, mean, n, quantile, share, table, total, where


def in_half(visits: object) -> list[object]:
    """Return the visits of the first half of the year."""
    return where(visits, lambda v: v.admitted < date(2025, 7, 1))  # type: ignore[arg-type]


SUPERSET = [
    Asked("superset-line", Style.SUPERSET, """SELECT DATE_TRUNC('month', admitted) AS "__timestamp",
       COUNT(*) AS "count"
FROM
  (SELECT * FROM visits) AS virtual_table
WHERE admitted >= '2025-01-01'
  AND admitted < '2025-07-01'
GROUP BY DATE_TRUNC('month', admitted)
ORDER BY "count" DESC
LIMIT 1000;""",
          lambda h: sorted(table(in_half(h.visits), lambda v: v.admitted.replace(day=1), n), key=lambda row: -row[1]),
          ordered=True),
    Asked("superset-line-with-series", Style.SUPERSET, """SELECT DATE_TRUNC('quarter', admitted) AS __timestamp,
       ward AS ward,
       sum(cost) AS "SUM(cost)"
FROM public.visits
GROUP BY DATE_TRUNC('quarter', admitted),
         ward
ORDER BY "SUM(cost)" DESC
LIMIT 10000""",
          lambda h: sorted(table(h.visits, (lambda v: date(2025, (v.admitted.month + 2) // 3 * 3 - 2, 1), "ward"),
                                 total("cost")), key=lambda row: -row[2]), ordered=True),
    Asked("superset-big-number", Style.SUPERSET, """SELECT COUNT(*) AS count
FROM public.visits
LIMIT 50000""",
          lambda h: line(h.visits, n)),
    Asked("superset-units", Style.SUPERSET, """SELECT COUNT(DISTINCT patient_id) AS "COUNT_DISTINCT(patient_id)"
FROM public.visits
WHERE ward IN ('surgery', 'cardiology')
LIMIT 50000""",
          lambda h: line(where(h.visits, lambda v: v.ward in ("surgery", "cardiology")), distinct("patient_id"))),
    Asked("superset-table", Style.SUPERSET, """SELECT ward AS ward,
       sex AS sex,
       AVG(cost) AS "AVG(cost)",
       MEDIAN(stay) AS "median stay"
FROM public.visits
GROUP BY ward,
         sex
ORDER BY "AVG(cost)" DESC
LIMIT 100""",
          lambda h: sorted(table(h.visits, ("ward", "sex"), mean("cost"), quantile("stay", 0.5)),
                           key=lambda row: -row[2])),
    Asked("superset-pie", Style.SUPERSET, """SELECT insurance AS insurance,
       COUNT(*) AS count
FROM public.visits
WHERE insurance IS NOT NULL
GROUP BY insurance
ORDER BY count DESC
LIMIT 100""",
          lambda h: sorted(table(h.visits, "insurance", n), key=lambda row: -row[1]), ordered=True),
    Asked("superset-virtual-dataset", Style.SUPERSET, """SELECT age_group AS age_group,
       COUNT(*) AS count
FROM
  (SELECT patient_id,
          ward,
          CASE
              WHEN age < 40 THEN 'young'
              ELSE 'old'
          END AS age_group
   FROM visits) AS virtual_table
WHERE ward IN ('emergency')
GROUP BY age_group
ORDER BY count DESC
LIMIT 1000""",
          lambda h: sorted(table(where(h.visits, lambda v: v.ward == "emergency"),
                                 lambda v: "young" if v.age < 40 else "old", n), key=lambda row: -row[1]),
          ordered=True),
    Asked("superset-custom-metric", Style.SUPERSET, """SELECT ward AS ward,
       SUM(CASE
               WHEN readmitted THEN 1
               ELSE 0
           END) * 1.0 / COUNT(*) AS "readmission rate"
FROM public.visits
GROUP BY ward
ORDER BY "readmission rate" DESC
LIMIT 1000""",
          lambda h: sorted(table(h.visits, "ward", share(lambda v: v.readmitted)), key=lambda row: -row[1]),
          ordered=True),
    Asked("superset-having", Style.SUPERSET, """SELECT diagnosis AS diagnosis,
       COUNT(*) AS count
FROM public.visits
WHERE ((sex = 'f'))
GROUP BY diagnosis
HAVING ((COUNT(*) > 200))
ORDER BY count DESC
LIMIT 1000""",
          lambda h: sorted((row for row in table(where(h.visits, lambda v: v.sex == "f"), "diagnosis", n)
                            if row[1] > 200), key=lambda row: -row[1]), ordered=True),
    Asked("superset-series-limit", Style.SUPERSET, """SELECT QUARTER(admitted) AS quarter,
       diagnosis AS diagnosis,
       COUNT(*) AS count
FROM public.visits
JOIN
  (SELECT diagnosis AS diagnosis__,
          COUNT(*) AS mme_inner__
   FROM public.visits
   GROUP BY diagnosis
   ORDER BY mme_inner__ DESC
   LIMIT 2) AS series_limit ON diagnosis = diagnosis__
GROUP BY QUARTER(admitted),
         diagnosis
ORDER BY count DESC
LIMIT 1000""",
          lambda h: table(where(h.visits, lambda v: v.diagnosis in ("E11", "I10")),
                          (lambda v: (v.admitted.month + 2) // 3, "diagnosis"), n)),
    Asked("superset-filter-values", Style.SUPERSET, """SELECT region AS region
FROM public.visits
GROUP BY region
ORDER BY region ASC
LIMIT 1000""",
          lambda h: [("east",), ("north",), ("south",)], ordered=True),
]  # fmt: skip

METABASE = [
    Asked("metabase-count", Style.METABASE, 'SELECT COUNT(*) AS "count" FROM "public"."visits"',
          lambda h: line(h.visits, n)),
    Asked("metabase-bars", Style.METABASE, """SELECT
  "public"."visits"."ward" AS "ward",
  COUNT(*) AS "count"
FROM
  "public"."visits"
GROUP BY
  "public"."visits"."ward"
ORDER BY
  "public"."visits"."ward" ASC""",
          lambda h: table(h.visits, "ward", n), ordered=True),
    Asked("metabase-bars-by-count", Style.METABASE, """SELECT
  "public"."visits"."diagnosis" AS "diagnosis",
  COUNT(*) AS "count"
FROM
  "public"."visits"
WHERE
  "public"."visits"."age" >= 65
GROUP BY
  "public"."visits"."diagnosis"
ORDER BY
  "count" DESC,
  "public"."visits"."diagnosis" ASC
LIMIT
  3""",
          lambda h: sorted(table(where(h.visits, lambda v: v.age >= 65), "diagnosis", n), key=lambda row: -row[1])[:3],
          ordered=True),
    Asked("metabase-by-month", Style.METABASE, """SELECT
  CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date) AS "admitted",
  AVG("public"."visits"."cost") AS "avg"
FROM
  "public"."visits"
GROUP BY
  CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date)
ORDER BY
  CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date) ASC""",
          lambda h: table(h.visits, lambda v: v.admitted.replace(day=1), mean("cost")), ordered=True),
    Asked("metabase-bins", Style.METABASE, """SELECT
  ((FLOOR((("public"."visits"."cost" - 0.0) / 250.0)) * 250.0) + 0.0) AS "cost",
  COUNT(*) AS "count"
FROM
  "public"."visits"
GROUP BY
  ((FLOOR((("public"."visits"."cost" - 0.0) / 250.0)) * 250.0) + 0.0)
ORDER BY
  ((FLOOR((("public"."visits"."cost" - 0.0) / 250.0)) * 250.0) + 0.0) ASC""",
          lambda h: table(h.visits, lambda v: v.cost // 250 * 250, n), ordered=True),
    Asked("metabase-units", Style.METABASE, """SELECT
  "public"."visits"."region" AS "region",
  COUNT(DISTINCT "public"."visits"."patient_id") AS "count"
FROM
  "public"."visits"
GROUP BY
  "public"."visits"."region"
ORDER BY
  "public"."visits"."region" ASC""",
          lambda h: table(h.visits, "region", distinct("patient_id")), ordered=True),
    Asked("metabase-filter", Style.METABASE, """SELECT
  "public"."visits"."sex" AS "sex",
  SUM("public"."visits"."stay") AS "sum"
FROM
  "public"."visits"
WHERE
  ("public"."visits"."ward" = 'surgery')
  AND (
    ("public"."visits"."admitted" >= DATE '2025-01-01')
    AND ("public"."visits"."admitted" < DATE '2025-07-01')
  )
GROUP BY
  "public"."visits"."sex"
ORDER BY
  "public"."visits"."sex" ASC""",
          lambda h: table(where(in_half(h.visits), lambda v: v.ward == "surgery"), "sex", total("stay")),
          ordered=True),
    Asked("metabase-not-or-missing", Style.METABASE, """SELECT COUNT(*) AS "count"
FROM "public"."visits"
WHERE ("public"."visits"."insurance" <> 'basic') OR ("public"."visits"."insurance" IS NULL)""",
          lambda h: line(h.visits, count(lambda v: v.insurance != "basic"))),
    Asked("metabase-share", Style.METABASE, """SELECT
  "public"."visits"."ward" AS "ward",
  CAST(SUM(CASE WHEN "public"."visits"."readmitted" = TRUE THEN 1 ELSE 0.0 END) AS FLOAT)
    / NULLIF(COUNT(*), 0) AS "share"
FROM
  "public"."visits"
GROUP BY
  "public"."visits"."ward"
ORDER BY
  "public"."visits"."ward" ASC""",
          lambda h: table(h.visits, "ward", share(lambda v: v.readmitted)), ordered=True),
    Asked("metabase-count-where", Style.METABASE, """SELECT
  SUM(CASE WHEN "public"."visits"."stay" > 7 THEN 1 ELSE 0.0 END) AS "CountIf"
FROM "public"."visits\"""",
          lambda h: line(h.visits, count(lambda v: v.stay > 7))),
    Asked("metabase-cumulative", Style.METABASE, """SELECT
  CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date) AS "admitted",
  SUM(COUNT(*)) OVER (
    ORDER BY
      CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date) ASC ROWS UNBOUNDED PRECEDING
  ) AS "count"
FROM
  "public"."visits"
GROUP BY
  CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date)
ORDER BY
  CAST(DATE_TRUNC('month', "public"."visits"."admitted") AS date) ASC""",
          lambda h: list(zip((row[0] for row in table(h.visits, lambda v: v.admitted.replace(day=1), n)),
                             accumulate(row[1] for row in table(h.visits, lambda v: v.admitted.month, n)),
                             strict=True)),
          ordered=True),
    Asked("metabase-join", Style.METABASE, """SELECT
  "Wards"."building" AS "Wards__building",
  COUNT(*) AS "count"
FROM
  "public"."visits"
  LEFT JOIN "public"."wards" AS "Wards" ON "public"."visits"."ward" = "Wards"."ward"
GROUP BY
  "Wards"."building"
ORDER BY
  "Wards"."building" ASC""",
          lambda h: table(h.visits, lambda v: "main" if v.ward in ("cardiology", "surgery") else "annex", n),
          ordered=True),
    Asked("metabase-nested", Style.METABASE, """SELECT
  "source"."ward" AS "ward",
  AVG("source"."cost") AS "avg"
FROM
  (
    SELECT
      "public"."visits"."patient_id" AS "patient_id",
      "public"."visits"."ward" AS "ward",
      "public"."visits"."cost" AS "cost"
    FROM
      "public"."visits"
    WHERE
      "public"."visits"."readmitted" = TRUE
  ) AS "source"
GROUP BY
  "source"."ward"
ORDER BY
  "source"."ward" ASC""",
          lambda h: table(where(h.visits, lambda v: v.readmitted), "ward", mean("cost")), ordered=True),
    Asked("metabase-summary-of-summary", Style.METABASE, """SELECT
  AVG("source"."count") AS "avg"
FROM
  (
    SELECT
      "public"."visits"."patient_id" AS "patient_id",
      COUNT(*) AS "count"
    FROM
      "public"."visits"
    GROUP BY
      "public"."visits"."patient_id"
  ) AS "source\"""",
          lambda h: [(len(h.visits) / distinct("patient_id")(h.visits),)]),
    Asked("metabase-day-of-week", Style.METABASE, """SELECT
  EXTRACT(DOW FROM "public"."visits"."admitted") + 1 AS "admitted",
  COUNT(*) AS "count"
FROM
  "public"."visits"
GROUP BY
  EXTRACT(DOW FROM "public"."visits"."admitted") + 1
ORDER BY
  EXTRACT(DOW FROM "public"."visits"."admitted") + 1 ASC""",
          lambda h: table(h.visits, lambda v: v.admitted.isoweekday() % 7 + 1, n), ordered=True),
    Asked("metabase-custom-column", Style.METABASE, """SELECT
  CASE WHEN "source"."stay" > 7 THEN 'long' ELSE 'short' END AS "kind",
  COUNT(*) AS "count"
FROM
  (SELECT "public"."visits"."stay" AS "stay" FROM "public"."visits") AS "source"
GROUP BY
  CASE WHEN "source"."stay" > 7 THEN 'long' ELSE 'short' END""",
          lambda h: table(h.visits, lambda v: "long" if v.stay > 7 else "short", n)),
]  # fmt: skip

ASKED = [*SUPERSET, *METABASE]
