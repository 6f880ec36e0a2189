"""Spellings of one question: asked again in any of them under its request id, it is answered as before, and free."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.errors import InboundsError, LedgerConflict
from inbounds.query import Dataset


@dataclass(frozen=True)
class OneQuestion:
    """Several spellings of one question."""

    name: str
    spellings: tuple[str, ...]


def why_not_one(dataset: Dataset, one: OneQuestion) -> list[str]:
    """Ask all spellings under one request id; return which of them are refused or taken for another question."""
    request, problems = f"same: {one.name}", []
    answers = []
    for sql in one.spellings:
        try:
            answers.append(dataset.sql(sql).ask(1, analyst="ana", request_id=request).released.rows)
        except LedgerConflict:
            problems.append(f"another question: {sql}")
        except InboundsError as problem:
            problems.append(f"refused: {sql}: {str(problem).splitlines()[0]}")
    assert all(answer == answers[0] for answer in answers), one.name  # for it is the stored one
    return problems


SAME = [
    OneQuestion("names", (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        'SELECT "ward", COUNT(*) FROM "visits" GROUP BY "ward"',
        "SELECT v.ward, COUNT(*) AS n FROM visits AS v GROUP BY v.ward",
        "select WARD, count(*) from VISITS group by 1 order by 2 desc limit 2",
    )),
    OneQuestion("names-of-other-dialects", (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT `ward`, COUNT(*) FROM `visits` GROUP BY `ward`",
        "SELECT [ward], COUNT(*) FROM [visits] GROUP BY [ward]",
        "SELECT ward, COUNT(*) FROM public.visits GROUP BY ward",
        'SELECT "public"."visits"."ward" AS "ward", COUNT(*) AS "count" FROM "public"."visits" GROUP BY '
        '"public"."visits"."ward" ORDER BY "public"."visits"."ward" ASC',
    )),
    OneQuestion("derived", (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) FROM (SELECT * FROM visits) AS virtual_table GROUP BY ward",
        "WITH source AS (SELECT * FROM visits) SELECT ward, COUNT(*) FROM source GROUP BY ward",
    )),
    OneQuestion("derived-and-filtered", (
        "SELECT ward, COUNT(*) FROM visits WHERE age >= 65 GROUP BY ward",
        "SELECT ward, COUNT(*) FROM (SELECT * FROM visits WHERE age >= 65) t GROUP BY ward",
        "WITH source AS (SELECT * FROM visits), old AS (SELECT * FROM source WHERE age >= 65) "
        "SELECT ward, COUNT(*) AS n FROM old GROUP BY 1",
    )),
    OneQuestion("derived-and-renamed", (
        "SELECT ward, SUM(cost) FROM visits GROUP BY ward",
        "SELECT department, SUM(amount) FROM (SELECT ward AS department, cost AS amount FROM visits) t "
        "GROUP BY department",
    )),
    OneQuestion("shapes", (
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(*) AS visits, ward FROM visits GROUP BY ward",
        "SELECT COUNT(*) FROM visits GROUP BY ward",
        "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT DISTINCT ward, COUNT(*) FROM visits GROUP BY ward",
    )),
    OneQuestion("commonest", (
        "SELECT sex, ward, COUNT(*) FROM visits GROUP BY sex, ward",
        "SELECT sex, mode(ward) FROM visits GROUP BY sex",
        "SELECT mode() WITHIN GROUP (ORDER BY ward) AS usual, sex FROM visits GROUP BY sex",
        "SELECT sex, arg_max(ward, n) FROM (SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward) AS t "
        "GROUP BY sex",
    )),
    OneQuestion("keys", (
        "SELECT DISTINCT ward FROM visits", "SELECT ward FROM visits GROUP BY ward",
        "SELECT v.ward AS w FROM visits v GROUP BY 1",
    )),
    OneQuestion("group-by", (
        "SELECT ward, sex, COUNT(*) FROM visits GROUP BY ward, sex",
        "SELECT ward, sex, COUNT(*) FROM visits GROUP BY 1, 2",
        "SELECT ward, sex, COUNT(*) FROM visits GROUP BY ALL",
    )),
    OneQuestion("count", (
        "SELECT COUNT(*) FROM visits", "SELECT COUNT(1) FROM visits", "SELECT COUNT(patient_id) FROM visits",
    )),
    OneQuestion("first-rows-of-an-answer", (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 2",
        "SELECT TOP 2 ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC FETCH FIRST 2 ROWS ONLY",
    )),
    OneQuestion("order-of-conditions", (
        "SELECT COUNT(*) FROM visits WHERE sex = 'f' AND age >= 65",
        "SELECT COUNT(*) FROM visits WHERE age >= 65 AND sex = 'f'",
        "SELECT COUNT(*) FROM visits WHERE (age >= 65) AND (sex = 'f')",
        "SELECT COUNT(*) FROM visits WHERE 65 <= age AND 'f' = sex",
        "SELECT COUNT(*) FROM visits WHERE sex = 'f' AND age >= 65 AND sex = 'f'",
        "SELECT COUNT(*) FROM visits WHERE NOT (age < 65 OR sex <> 'f')",
        "SELECT COUNT(*) FROM visits WHERE age >= 65 AND age IS NOT NULL AND sex IN ('f')",
    )),
    OneQuestion("between", (
        "SELECT COUNT(*) FROM visits WHERE age BETWEEN 18 AND 64",
        "SELECT COUNT(*) FROM visits WHERE age >= 18 AND age <= 64",
        "SELECT COUNT(*) FROM visits WHERE age BETWEEN SYMMETRIC 64 AND 18",
    )),
    OneQuestion("not-in", (
        "SELECT COUNT(*) FROM visits WHERE ward NOT IN ('surgery', 'emergency')",
        "SELECT COUNT(*) FROM visits WHERE NOT ward IN ('surgery', 'emergency')",
        "SELECT COUNT(*) FROM visits WHERE NOT (ward IN ('emergency', 'surgery'))",
        "SELECT COUNT(*) FROM visits WHERE ward <> 'surgery' AND ward <> 'emergency'",
        "SELECT COUNT(*) FROM visits WHERE NOT (ward = 'surgery' OR ward = 'emergency')",
    )),
    OneQuestion("not-equal", (
        "SELECT COUNT(*) FROM visits WHERE ward <> 'surgery'", "SELECT COUNT(*) FROM visits WHERE ward != 'surgery'",
        "SELECT COUNT(*) FROM visits WHERE NOT ward = 'surgery'",
    )),
    OneQuestion("any-of", (
        "SELECT COUNT(*) FROM visits WHERE ward IN ('surgery', 'emergency')",
        "SELECT COUNT(*) FROM visits WHERE ward = 'emergency' OR ward = 'surgery'",
        "SELECT COUNT(*) FROM visits WHERE ward IN ('emergency', 'surgery', 'emergency')",
    )),
    OneQuestion("two-columns", (
        "SELECT COUNT(*) FROM visits WHERE discharged > admitted",
        "SELECT COUNT(*) FROM visits WHERE admitted < discharged",
        "SELECT COUNT(*) FROM visits WHERE NOT discharged <= admitted",
    )),
    OneQuestion("no-flag", (
        "SELECT COUNT(*) FROM visits WHERE NOT readmitted", "SELECT COUNT(*) FROM visits WHERE readmitted = FALSE",
        "SELECT COUNT(*) FROM visits WHERE readmitted IS FALSE", "SELECT COUNT(*) FROM visits WHERE readmitted <> TRUE",
    )),
    OneQuestion("flag", (
        "SELECT COUNT(*) FROM visits WHERE readmitted", "SELECT COUNT(*) FROM visits WHERE readmitted = TRUE",
        "SELECT COUNT(*) FROM visits WHERE readmitted IS TRUE", "SELECT COUNT(*) FROM visits WHERE readmitted = 1",
    )),
    OneQuestion("counted-if", (
        "SELECT ward, COUNT(CASE WHEN age >= 65 THEN 1 END) FROM visits GROUP BY ward",
        "SELECT ward, COUNT(CASE WHEN age >= 65 THEN 1 ELSE NULL END) FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) FILTER (WHERE age >= 65) FROM visits GROUP BY ward",
        "SELECT ward, COUNT_IF(age >= 65) FROM visits GROUP BY ward",
        "SELECT ward, COUNTIF(age >= 65) FROM visits GROUP BY ward",
    )),
    OneQuestion("summed-if", (
        "SELECT ward, SUM(CASE WHEN readmitted THEN 1 ELSE 0 END) FROM visits GROUP BY ward",
        "SELECT ward, SUM(IF(readmitted, 1, 0)) FROM visits GROUP BY ward",
        "SELECT ward, SUM(readmitted::int) FROM visits GROUP BY ward",
        "SELECT ward, SUM(readmitted) FROM visits GROUP BY ward",
    )),
    OneQuestion("share", (
        "SELECT ward, PROPORTION(readmitted) FROM visits GROUP BY ward",
        "SELECT ward, AVG(CASE WHEN readmitted THEN 1 ELSE 0 END) FROM visits GROUP BY ward",
        "SELECT ward, AVG(CASE WHEN readmitted THEN 1.0 ELSE 0.0 END) FROM visits GROUP BY ward",
        "SELECT ward, AVG(IIF(readmitted, 1, 0)) FROM visits GROUP BY ward",
    )),
    OneQuestion("mean-of-flags", (  # which is no share: rows without the flag are left out
        "SELECT ward, AVG(readmitted) FROM visits GROUP BY ward",
        "SELECT ward, AVG(readmitted::int) FROM visits GROUP BY ward",
        "SELECT ward, AVG(CAST(readmitted AS INTEGER)) FROM visits GROUP BY ward",
    )),
    OneQuestion("case-as-group", (
        "SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS stage, COUNT(*) FROM visits GROUP BY 1",
        "SELECT IF(age < 18, 'minor', 'adult') AS stage, COUNT(*) FROM visits GROUP BY stage",
        "SELECT IIF(age < 18, 'minor', 'adult') AS stage, COUNT(*) FROM visits "
        "GROUP BY IIF(age < 18, 'minor', 'adult')",
    )),
    OneQuestion("part-of-a-key", (
        "SELECT LEFT(diagnosis, 1), COUNT(*) FROM visits GROUP BY 1",
        "SELECT SUBSTR(diagnosis, 1, 1), COUNT(*) FROM visits GROUP BY 1",
        "SELECT SUBSTRING(diagnosis FROM 1 FOR 1), COUNT(*) FROM visits GROUP BY 1",
    )),
    OneQuestion("rest", (
        "SELECT MOD(stay, 7), COUNT(*) FROM visits GROUP BY 1", "SELECT stay % 7, COUNT(*) FROM visits GROUP BY 1",
    )),
    OneQuestion("missing-key", (
        "SELECT COALESCE(insurance, 'none'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT IFNULL(insurance, 'none'), COUNT(*) FROM visits GROUP BY 1",
        "SELECT NVL(insurance, 'none'), COUNT(*) FROM visits GROUP BY 1",
    )),
    OneQuestion("decades", (
        "SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM visits GROUP BY 1",
        "SELECT age // 10 * 10 AS decade, COUNT(*) FROM visits GROUP BY decade",
    )),
    OneQuestion("median", (
        "SELECT MEDIAN(stay) FROM visits", "SELECT QUANTILE(stay, 0.5) FROM visits",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY stay) FROM visits",
    )),
    OneQuestion("quantile-of-duckdb", (
        "SELECT QUANTILE(stay, 0.9) FROM visits", "SELECT quantile_cont(stay, 0.9) FROM visits",
        "SELECT quantile_disc(stay, 0.9) FROM visits", "SELECT approx_quantile(stay, 0.9) FROM visits",
        "SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY stay) FROM visits",
    )),
    OneQuestion("units", (
        "SELECT COUNT(DISTINCT patient_id) FROM visits", "SELECT approx_count_distinct(patient_id) FROM visits",
    )),
    OneQuestion("deviation", ("SELECT STDDEV(stay) FROM visits", "SELECT STDDEV_SAMP(stay) FROM visits")),
    OneQuestion("month", (
        "SELECT MONTH(admitted), COUNT(*) FROM visits GROUP BY MONTH(admitted)",
        "SELECT EXTRACT(MONTH FROM admitted), COUNT(*) FROM visits GROUP BY 1",
        "SELECT DATE_PART('month', admitted) AS m, COUNT(*) FROM visits GROUP BY m",
    )),
    OneQuestion("first-of-month", (
        "SELECT DATE_TRUNC('month', admitted), COUNT(*) FROM visits GROUP BY 1",
        "SELECT CAST(DATE_TRUNC('month', admitted) AS date), COUNT(*) FROM visits GROUP BY 1",
        "SELECT DATE_TRUNC('MONTH', admitted)::date, COUNT(*) FROM visits GROUP BY 1",
    )),
    OneQuestion("quarters", (
        "SELECT STRFTIME(admitted, '%Y-Q%q') AS q, COUNT(*) FROM visits GROUP BY q",
        "SELECT TO_CHAR(admitted, 'YYYY-\"Q\"Q') AS q, COUNT(*) FROM visits GROUP BY 1",
        "SELECT FORMAT_DATE('%Y-Q%Q', admitted) AS q, COUNT(*) FROM visits GROUP BY 1",
    )),
    OneQuestion("months-of-tools", (
        "SELECT STRFTIME(admitted, '%B %Y') AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT DATE_FORMAT(admitted, '%M %Y') AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT DATE_FORMAT(admitted, 'MMMM yyyy') AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT FORMAT(admitted, 'MMMM yyyy') AS m, COUNT(*) FROM visits GROUP BY FORMAT(admitted, 'MMMM yyyy')",
        "SELECT TO_CHAR(admitted, 'FMMonth YYYY') AS m, COUNT(*) FROM visits GROUP BY m",
    )),
    OneQuestion("pairs-of-keys", (
        "SELECT region || '-' || sex AS who, COUNT(*) FROM visits GROUP BY who",
        "SELECT CONCAT(region, '-', sex) AS who, COUNT(*) FROM visits GROUP BY who",
    )),
    OneQuestion("own-sex", (
        "SELECT sex, COUNT(*) FROM (SELECT patient_id, MIN(sex) AS sex FROM visits GROUP BY 1) t GROUP BY sex",
        "SELECT sex, COUNT(*) FROM (SELECT patient_id, ANY_VALUE(sex) AS sex FROM visits GROUP BY patient_id) AS t "
        "GROUP BY sex",
        "SELECT sex, COUNT(*) FROM (SELECT patient_id, FIRST(sex) AS sex FROM visits GROUP BY 1) t GROUP BY 1",
    )),
    OneQuestion("rows-without-a-match", (
        "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE p.patient_id = v.patient_id)",
        "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id WHERE v.patient_id IS NULL",
        "SELECT COUNT(*) FROM patients p LEFT OUTER JOIN visits v USING (patient_id) WHERE v.patient_id IS NULL",
    )),
    OneQuestion("days-between", (
        "SELECT AVG(discharged - admitted) FROM visits",
        "SELECT AVG(date_diff('day', admitted, discharged)) FROM visits",
        "SELECT AVG(DATEDIFF(day, admitted, discharged)) FROM visits",
    )),
    OneQuestion("days-later", (
        "SELECT COUNT(*) FROM visits WHERE discharged > admitted + 7",
        "SELECT COUNT(*) FROM visits WHERE discharged > admitted + INTERVAL '7' DAY",
    )),
    OneQuestion("days-later-of-others", (
        "SELECT COUNT(*) FROM visits WHERE discharged > admitted + INTERVAL '7 days'",
        "SELECT COUNT(*) FROM visits WHERE discharged > DATE_ADD(admitted, INTERVAL 7 DAY)",
        "SELECT COUNT(*) FROM visits WHERE discharged > DATEADD(day, 7, admitted)",
    )),
    OneQuestion("since", (
        "SELECT COUNT(*) FROM visits WHERE admitted >= '2025-07-01'",
        "SELECT COUNT(*) FROM visits WHERE admitted >= DATE '2025-07-01'",
    )),
    OneQuestion("since-cast", (
        "SELECT COUNT(*) FROM visits WHERE admitted >= '2025-07-01'",
        "SELECT COUNT(*) FROM visits WHERE admitted >= '2025-07-01'::date",
        "SELECT COUNT(*) FROM visits WHERE admitted >= CAST('2025-07-01' AS DATE)",
        "SELECT COUNT(*) FROM visits WHERE admitted >= TO_DATE('2025-07-01', 'YYYY-MM-DD')",
    )),
    OneQuestion("joins", (
        "SELECT smoker, COUNT(*) FROM visits JOIN patients USING (patient_id) GROUP BY smoker",
        "SELECT p.smoker, COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.smoker",
        "SELECT p.smoker, COUNT(*) FROM visits v, patients p WHERE p.patient_id = v.patient_id GROUP BY 1",
        "SELECT smoker, COUNT(*) FROM patients JOIN visits USING (patient_id) GROUP BY smoker",
    )),
    OneQuestion("joins-of-some", (
        "SELECT COUNT(*) FROM visits JOIN patients p USING (patient_id) WHERE p.smoker AND age >= 65",
        "SELECT COUNT(*) FROM patients a JOIN visits b ON a.patient_id = b.patient_id WHERE age >= 65 AND smoker",
        "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND p.smoker WHERE v.age >= 65",
    )),
    OneQuestion("public-joins", (
        "SELECT building, COUNT(*) FROM visits JOIN wards USING (ward) GROUP BY building",
        "SELECT w.building, COUNT(*) FROM wards w JOIN visits v ON v.ward = w.ward GROUP BY 1",
    )),
    OneQuestion("visits-of-each", (
        "SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t",
        "WITH t AS (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY 1) SELECT AVG(n) FROM t",
        "SELECT AVG(t.visits) AS usual FROM (SELECT patient_id, COUNT(*) AS visits FROM visits GROUP BY patient_id) t",
    )),
    OneQuestion("often", (
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t WHERE n > 3",
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING COUNT(*) > 3) t",
        "SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 3) AS t",
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n, MAX(age) AS a FROM visits GROUP BY patient_id) t "
        "WHERE 3 < t.n",
    )),
    OneQuestion("share-of-all", (
        "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS part FROM visits GROUP BY ward",
        "WITH t AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward), a AS (SELECT COUNT(*) AS n FROM visits) "
        "SELECT ward, t.n * 1.0 / a.n AS part FROM t CROSS JOIN a",
        "SELECT ward, t.n, (SELECT COUNT(*) FROM visits) AS of_all FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP "
        "BY ward) AS t",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward UNION ALL SELECT 'total', COUNT(*) FROM visits",
    )),
    OneQuestion("month-before", (
        "SELECT MONTH(admitted) AS month, COUNT(*) AS n FROM visits GROUP BY 1",
        "WITH m AS (SELECT MONTH(admitted) AS month, COUNT(*) AS n FROM visits GROUP BY 1) SELECT a.month, a.n, b.n AS "
        "before FROM m a LEFT JOIN m b ON b.month = a.month - 1",
    )),
    OneQuestion("pivot", (
        "SELECT ward, sex, COUNT(*) FROM visits GROUP BY ward, sex",
        "PIVOT visits ON sex USING COUNT(*) GROUP BY ward",
    )),
]  # fmt: skip
