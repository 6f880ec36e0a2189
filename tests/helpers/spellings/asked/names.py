"""Names, and how many rows are shown: quotes of all dialects, schemas, aliases, TOP, FETCH FIRST, GROUP BY ALL."""

from __future__ import annotations

from tests.helpers.spellings.hospital import DIAGNOSES, WARDS
from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import mean, n, share, table, total, where

QUOTED = [
    Asked("quoted-names", Style.POSTGRESQL, 'SELECT "ward", COUNT(*) FROM "visits" GROUP BY "ward"',
          lambda h: table(h.visits, "ward", n)),
    Asked("backticked-names", Style.MYSQL, "SELECT `ward`, COUNT(*) AS `visits` FROM `visits` GROUP BY `ward`",
          lambda h: table(h.visits, "ward", n),
          "SELECT ward, COUNT(*) FROM visits GROUP BY ward"),
    Asked("backticked-dataset", Style.BIGQUERY, "SELECT region, AVG(age) FROM `public.visits` GROUP BY region",
          lambda h: table(h.visits, "region", mean("age")),
          "SELECT region, AVG(age) FROM visits GROUP BY region"),
    Asked("bracketed-names", Style.SQL_SERVER,
          "SELECT [ward], AVG([cost]) AS [mean cost] FROM [visits] GROUP BY [ward]",
          lambda h: table(h.visits, "ward", mean("cost")),
          "SELECT ward, AVG(cost) FROM visits GROUP BY ward"),
    Asked("bracketed-schema", Style.SQL_SERVER, "SELECT [sex], COUNT(*) FROM [dbo].[visits] GROUP BY [sex]",
          lambda h: table(h.visits, "sex", n),
          "SELECT sex, COUNT(*) FROM visits GROUP BY sex"),
    Asked("schema", Style.POSTGRESQL, "SELECT sex, COUNT(*) FROM public.visits GROUP BY sex",
          lambda h: table(h.visits, "sex", n)),
    Asked("schema-in-columns", Style.POSTGRESQL,
          "SELECT public.visits.sex, SUM(public.visits.stay) FROM public.visits GROUP BY public.visits.sex",
          lambda h: table(h.visits, "sex", total("stay"))),
    Asked("table-in-columns", Style.STANDARD,
          "SELECT visits.sex, COUNT(*) FROM visits WHERE visits.age < 40 GROUP BY visits.sex",
          lambda h: table(where(h.visits, lambda v: v.age < 40), "sex", n)),
    Asked("alias-with-as", Style.MODE, "SELECT v.ward, COUNT(*) AS visits FROM visits AS v GROUP BY v.ward",
          lambda h: table(h.visits, "ward", n)),
    Asked("alias-without-as", Style.MODE, "SELECT v.ward, AVG(v.stay) usual FROM visits v GROUP BY v.ward",
          lambda h: table(h.visits, "ward", mean("stay"))),
    Asked("alias-with-spaces", Style.MODE,
          'SELECT ward AS "Ward name", COUNT(*) AS "Number of visits" FROM visits GROUP BY ward ORDER BY "Number '
          'of visits" DESC',
          lambda h: sorted(table(h.visits, "ward", n), key=lambda row: -row[1]), ordered=True),
    Asked("any-case", Style.MODE, "select Ward, Count(*) from VISITS where AGE >= 65 group by WARD",
          lambda h: table(where(h.visits, lambda v: v.age >= 65), "ward", n)),
    Asked("comments-and-semicolon", Style.MODE,
          "-- visits of the old\nSELECT COUNT(*) /* all wards */ FROM visits\n"
          "WHERE age >= 65;",
          lambda h: [(len(where(h.visits, lambda v: v.age >= 65)),)]),
    Asked("from-first", Style.DUCKDB, "FROM visits SELECT sex, COUNT(*) GROUP BY sex",
          lambda h: table(h.visits, "sex", n)),
]  # fmt: skip

FEWER = [
    Asked("top", Style.SQL_SERVER,
          "SELECT TOP 3 diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC",
          lambda h: sorted(table(h.visits, "diagnosis", n), key=lambda row: -row[1])[:3],
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 3", ordered=True),
    Asked("top-in-parentheses", Style.SQL_SERVER,
          "SELECT TOP (2) ward, COUNT(*) FROM visits GROUP BY ward ORDER BY COUNT(*)",
          lambda h: sorted(table(h.visits, "ward", n), key=lambda row: row[1])[:2],
          "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY COUNT(*) LIMIT 2", ordered=True),
    Asked("fetch-first", Style.STANDARD,
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC FETCH FIRST 2 ROWS ONLY",
          lambda h: sorted(table(h.visits, "diagnosis", n), key=lambda row: -row[1])[:2],
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 2", ordered=True),
    Asked("offset-fetch-next", Style.SQL_SERVER,
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC OFFSET 1 ROWS FETCH NEXT "
          "2 ROWS ONLY",
          lambda h: sorted(table(h.visits, "diagnosis", n), key=lambda row: -row[1])[1:3],
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 2 OFFSET 1",
          ordered=True),
    Asked("limit-offset", Style.POSTGRESQL,
          "SELECT ward, COUNT(*) FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 2 OFFSET 1",
          lambda h: sorted(table(h.visits, "ward", n), key=lambda row: -row[1])[1:3], ordered=True),
    Asked("limit-with-comma", Style.MYSQL,
          "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 1, 2",
          lambda h: sorted(table(h.visits, "ward", n), key=lambda row: row[1])[1:3],
          "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n LIMIT 2 OFFSET 1", ordered=True),
    Asked("nulls-last", Style.POSTGRESQL,
          "SELECT ward, AVG(cost) AS usual FROM visits GROUP BY ward ORDER BY usual DESC NULLS LAST LIMIT 1",
          lambda h: sorted(table(h.visits, "ward", mean("cost")), key=lambda row: -row[1])[:1], ordered=True),
    Asked("order-by-several", Style.MODE,
          "SELECT region, sex, COUNT(*) FROM visits GROUP BY region, sex ORDER BY sex DESC, region",
          lambda h: sorted(sorted(table(h.visits, ("region", "sex"), n)), key=lambda row: row[1], reverse=True),
          ordered=True),
]  # fmt: skip

GROUPED = [
    Asked("group-by-all", Style.DUCKDB, "SELECT ward, sex, COUNT(*), AVG(age) FROM visits GROUP BY ALL",
          lambda h: table(h.visits, ("ward", "sex"), n, mean("age"))),
    Asked("group-by-all-of-an-expression", Style.DUCKDB,
          "SELECT age // 20 * 20 AS decade, COUNT(*) AS n FROM visits GROUP BY ALL ORDER BY ALL",
          lambda h: table(h.visits, lambda v: v.age // 20 * 20, n)),
    Asked("group-by-numbers", Style.MODE, "SELECT region, ward, COUNT(*) FROM visits GROUP BY 1, 2 ORDER BY 1, 2",
          lambda h: table(h.visits, ("region", "ward"), n), ordered=True),
    Asked("group-by-alias", Style.POSTGRESQL, "SELECT age >= 65 AS retired, COUNT(*) FROM visits GROUP BY retired",
          lambda h: table(h.visits, lambda v: v.age >= 65, n)),
    Asked("distinct-keys", Style.STANDARD, "SELECT DISTINCT ward FROM visits",
          lambda h: [(ward,) for ward in WARDS]),
    Asked("distinct-keys-in-order", Style.METABASE,
          'SELECT DISTINCT "public"."visits"."diagnosis" AS "diagnosis" FROM "public"."visits" ORDER BY '
          '"public"."visits"."diagnosis" ASC LIMIT 1000',
          lambda h: [(diagnosis,) for diagnosis in DIAGNOSES], ordered=True),
    Asked("keys-by-grouping", Style.SUPERSET, "SELECT ward AS ward FROM visits GROUP BY ward LIMIT 1000",
          lambda h: [(ward,) for ward in WARDS]),
    Asked("key-after-measure", Style.MODE, "SELECT COUNT(*) AS visits, ward FROM visits GROUP BY ward",
          lambda h: [(many, ward) for ward, many in table(h.visits, "ward", n)]),
    Asked("key-not-shown", Style.MODE, "SELECT AVG(age) FROM visits GROUP BY sex",
          lambda h: [row[1:] for row in table(h.visits, "sex", mean("age"))]),
    Asked("having-over-an-alias", Style.DUCKDB,
          "SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis HAVING n > 500 ORDER BY n DESC",
          lambda h: sorted((row for row in table(h.visits, "diagnosis", n) if row[1] > 500), key=lambda row: -row[1]),
          ordered=True),
    Asked("rollup", Style.POSTGRESQL, "SELECT region, sex, COUNT(*) FROM visits GROUP BY ROLLUP (region, sex)",
          lambda h: [*table(h.visits, ("region", "sex"), n), *((*row[:1], None, row[1]) for row in
                     table(h.visits, "region", n)), (None, None, len(h.visits))]),
    Asked("rollup-with", Style.MYSQL, "SELECT ward, COUNT(*) FROM visits GROUP BY ward WITH ROLLUP",
          lambda h: [*table(h.visits, "ward", n), (None, len(h.visits))],
          "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)"),
    Asked("several-measures", Style.MODE,
          "SELECT ward, COUNT(*) AS visits, SUM(cost) AS spent, AVG(cost) AS usual, AVG(stay) AS days FROM visits "
          "GROUP BY ward ORDER BY ward",
          lambda h: table(h.visits, "ward", n, total("cost"), mean("cost"), mean("stay")), ordered=True),
    Asked("readmitted-by-ward", Style.STANDARD,
          "SELECT ward, AVG(CASE WHEN readmitted THEN 1 ELSE 0 END) FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", share(lambda v: v.readmitted))),
]  # fmt: skip

ASKED = [*QUOTED, *FEWER, *GROUPED]
