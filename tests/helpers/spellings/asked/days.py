"""Days: strftime, TO_CHAR, names of days and months, DATE_TRUNC, DATEDIFF, DATE_ADD, INTERVAL, parts."""

from __future__ import annotations

from datetime import date, timedelta

from tests.helpers.spellings.hospital import Visit
from tests.helpers.spellings.spelling import Spelling as Asked
from tests.helpers.spellings.spelling import Style
from tests.helpers.spellings.truths import count, line, mean, n, quantile, share, table, total, where


def month(visit: Visit) -> date:
    """Return the first day of the month of a visit."""
    return visit.admitted.replace(day=1)


def quarter(visit: Visit) -> int:
    """Return the quarter of a visit."""
    return (visit.admitted.month + 2) // 3


def monday(visit: Visit) -> date:
    """Return the first day of the week of a visit."""
    return visit.admitted - timedelta(visit.admitted.weekday())


WRITTEN = [
    Asked("strftime-duckdb", Style.DUCKDB,
          "SELECT strftime(admitted, '%Y-%m') AS month, COUNT(*) FROM visits GROUP BY month",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%Y-%m}", n)),
    Asked("strftime-sqlite", Style.SQLITE,
          "SELECT strftime('%m', admitted) AS month, COUNT(*) FROM visits GROUP BY month",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%m}", n),
          "SELECT strftime(admitted, '%m'), COUNT(*) FROM visits GROUP BY 1"),
    Asked("to-char-month", Style.POSTGRESQL,
          "SELECT TO_CHAR(admitted, 'YYYY-MM') AS month, SUM(cost) FROM visits GROUP BY 1 ORDER BY 1",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%Y-%m}", total("cost")),
          "SELECT strftime(admitted, '%Y-%m'), SUM(cost) FROM visits GROUP BY 1 ORDER BY 1", ordered=True),
    Asked("to-char-quarter", Style.POSTGRESQL,
          "SELECT TO_CHAR(admitted, 'YYYY-\"Q\"Q') AS quarter, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: f"2025-Q{quarter(v)}", n),
          "SELECT '2025-Q' || QUARTER(admitted), COUNT(*) FROM visits GROUP BY 1"),
    Asked("day-of-the-german-calendar", Style.MYSQL,
          "SELECT DATE_FORMAT(admitted, '%d.%m.%Y') AS day, COUNT(*) FROM visits WHERE stay > 25 GROUP BY 1",
          lambda h: table(where(h.visits, lambda v: v.stay > 25), lambda v: f"{v.admitted:%d.%m.%Y}", n),
          "SELECT strftime(admitted, '%d.%m.%Y'), COUNT(*) FROM visits WHERE stay > 25 GROUP BY 1"),
    Asked("iso-week", Style.POSTGRESQL,
          "SELECT TO_CHAR(admitted, 'IYYY-IW') AS week, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%G-%V}", n),
          "SELECT strftime(admitted, '%G-%V'), COUNT(*) FROM visits GROUP BY 1"),
    Asked("date-format", Style.MYSQL,
          "SELECT DATE_FORMAT(admitted, '%Y-%m') AS month, COUNT(*) FROM visits GROUP BY month",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%Y-%m}", n),
          "SELECT strftime(admitted, '%Y-%m'), COUNT(*) FROM visits GROUP BY 1"),
    Asked("format-date", Style.BIGQUERY,
          "SELECT FORMAT_DATE('%Y-%m', admitted) AS month, COUNT(*) FROM visits GROUP BY month",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%Y-%m}", n),
          "SELECT strftime(admitted, '%Y-%m'), COUNT(*) FROM visits GROUP BY 1"),
    Asked("dayname", Style.DUCKDB, "SELECT dayname(admitted) AS day, COUNT(*) FROM visits GROUP BY day",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%A}", n)),
    Asked("monthname", Style.DUCKDB, "SELECT monthname(admitted) AS month, AVG(stay) FROM visits GROUP BY month",
          lambda h: table(h.visits, lambda v: f"{v.admitted:%B}", mean("stay"))),
    Asked("dayname-in-where", Style.MYSQL,
          "SELECT COUNT(*) FROM visits WHERE DAYNAME(admitted) IN ('Saturday', 'Sunday')",
          lambda h: line(h.visits, count(lambda v: v.admitted.weekday() >= 5))),
]  # fmt: skip

PARTS = [
    Asked("month", Style.MODE,
          "SELECT MONTH(admitted) AS month, COUNT(*) FROM visits GROUP BY MONTH(admitted) ORDER BY 1",
          lambda h: table(h.visits, lambda v: v.admitted.month, n), ordered=True),
    Asked("extract-month", Style.POSTGRESQL,
          "SELECT EXTRACT(MONTH FROM admitted) AS month, AVG(cost) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: v.admitted.month, mean("cost"))),
    Asked("date-part-quarter", Style.POSTGRESQL,
          "SELECT DATE_PART('quarter', admitted) AS q, COUNT(*) FROM visits GROUP BY q",
          lambda h: table(h.visits, quarter, n)),
    Asked("datepart", Style.SQL_SERVER,
          "SELECT DATEPART(month, admitted) AS m, COUNT(*) FROM visits GROUP BY DATEPART(month, admitted)",
          lambda h: table(h.visits, lambda v: v.admitted.month, n),
          "SELECT MONTH(admitted), COUNT(*) FROM visits GROUP BY 1"),
    Asked("extract-year", Style.STANDARD,
          "SELECT EXTRACT(YEAR FROM discharged) AS year, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: v.discharged.year, n)),
    Asked("day-of-week-from-sunday", Style.POSTGRESQL,
          "SELECT EXTRACT(DOW FROM admitted) AS dow, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: v.admitted.isoweekday() % 7, n)),
    Asked("day-of-week-from-monday", Style.POSTGRESQL,
          "SELECT EXTRACT(ISODOW FROM admitted) AS dow, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: v.admitted.isoweekday(), n)),
    Asked("week", Style.POSTGRESQL, "SELECT EXTRACT(WEEK FROM admitted) AS week, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: v.admitted.isocalendar().week, n)),
    Asked("day-of-month", Style.STANDARD,
          "SELECT DAY(admitted) AS day, COUNT(*) FROM visits WHERE DAY(admitted) <= 3 GROUP BY 1",
          lambda h: table(where(h.visits, lambda v: v.admitted.day <= 3), lambda v: v.admitted.day, n)),
    Asked("weekend", Style.POSTGRESQL,
          "SELECT CASE WHEN EXTRACT(ISODOW FROM admitted) >= 6 THEN 'weekend' ELSE 'week' END AS time, "
          "AVG(readmitted::int) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: "weekend" if v.admitted.weekday() >= 5 else "week",
                          share(lambda v: v.readmitted))),
]  # fmt: skip

TRUNCATED = [
    Asked("date-trunc-month", Style.POSTGRESQL,
          "SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1",
          lambda h: table(h.visits, month, n), ordered=True),
    Asked("date-trunc-week", Style.DUCKDB,
          "SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n FROM visits GROUP BY ALL",
          lambda h: table(h.visits, monday, n)),
    Asked("date-trunc-day", Style.SUPERSET,
          "SELECT DATE_TRUNC('day', admitted) AS day, COUNT(*) FROM visits WHERE admitted < '2025-01-15' GROUP BY "
          "DATE_TRUNC('day', admitted)",
          lambda h: table(where(h.visits, lambda v: v.admitted < date(2025, 1, 15)), "admitted", n)),
    Asked("date-trunc-turned-round", Style.BIGQUERY,
          "SELECT DATE_TRUNC(admitted, MONTH) AS month, COUNT(*) FROM visits GROUP BY month",
          lambda h: table(h.visits, month, n),
          "SELECT DATE_TRUNC('month', admitted), COUNT(*) FROM visits GROUP BY 1"),
    Asked("date-trunc-cast", Style.METABASE,
          "SELECT CAST(DATE_TRUNC('month', admitted) AS date) AS admitted, COUNT(*) FROM visits GROUP BY "
          "CAST(DATE_TRUNC('month', admitted) AS date)",
          lambda h: table(h.visits, month, n)),
    Asked("date-trunc-double-colon", Style.DBT,
          "select date_trunc('quarter', admitted)::date as quarter, sum(cost) as spent from visits group by 1",
          lambda h: table(h.visits, lambda v: date(2025, quarter(v) * 3 - 2, 1), total("cost"))),
]  # fmt: skip

BETWEEN = [
    Asked("days-between", Style.POSTGRESQL, "SELECT AVG(discharged - admitted) FROM visits",
          lambda h: line(h.visits, mean("stay")), near=0.01),
    Asked("date-diff-duckdb", Style.DUCKDB,
          "SELECT ward, AVG(date_diff('day', admitted, discharged)) FROM visits GROUP BY ward",
          lambda h: table(h.visits, "ward", mean("stay")), near=0.05),
    Asked("datediff-sql-server", Style.SQL_SERVER, "SELECT AVG(DATEDIFF(day, admitted, discharged)) FROM visits",
          lambda h: line(h.visits, mean("stay")),
          "SELECT AVG(discharged - admitted) FROM visits", near=0.01),
    Asked("datediff-mysql", Style.MYSQL, "SELECT AVG(DATEDIFF(discharged, admitted)) FROM visits",
          lambda h: line(h.visits, mean("stay")),
          "SELECT AVG(discharged - admitted) FROM visits", near=0.01),
    Asked("date-diff-bigquery", Style.BIGQUERY, "SELECT AVG(DATE_DIFF(discharged, admitted, DAY)) FROM visits",
          lambda h: line(h.visits, mean("stay")),
          "SELECT AVG(discharged - admitted) FROM visits", near=0.01),
    Asked("datediff-in-where", Style.SNOWFLAKE,
          "SELECT COUNT(*) FROM visits WHERE DATEDIFF('day', admitted, discharged) > 7",
          lambda h: line(h.visits, count(lambda v: v.stay > 7))),
    Asked("months-between", Style.DUCKDB,
          "SELECT date_diff('month', admitted, discharged) AS months, COUNT(*) FROM visits GROUP BY 1",
          lambda h: table(h.visits, lambda v: 12 * (v.discharged.year - v.admitted.year) + v.discharged.month
                          - v.admitted.month, n)),
    Asked("since-the-new-year", Style.DUCKDB, "SELECT MEDIAN(admitted - DATE '2025-01-01') FROM visits",
          lambda h: line(h.visits, quantile(lambda v: (v.admitted - date(2025, 1, 1)).days, 0.5))),
    Asked("interval-in-where", Style.POSTGRESQL,
          "SELECT COUNT(*) FROM visits WHERE discharged > admitted + INTERVAL '7 days'",
          lambda h: line(h.visits, count(lambda v: v.stay > 7))),
    Asked("date-add-duckdb", Style.DUCKDB,
          "SELECT COUNT(*) FROM visits WHERE discharged > date_add(admitted, INTERVAL 7 DAY)",
          lambda h: line(h.visits, count(lambda v: v.stay > 7))),
    Asked("dateadd", Style.SQL_SERVER, "SELECT COUNT(*) FROM visits WHERE discharged > DATEADD(day, 7, admitted)",
          lambda h: line(h.visits, count(lambda v: v.stay > 7)),
          "SELECT COUNT(*) FROM visits WHERE discharged > admitted + 7"),
    Asked("date-sub", Style.MYSQL,
          "SELECT COUNT(*) FROM visits WHERE admitted <= DATE_SUB(discharged, INTERVAL 14 DAY)",
          lambda h: line(h.visits, count(lambda v: v.stay >= 14)),
          "SELECT COUNT(*) FROM visits WHERE admitted <= discharged - 14"),
]  # fmt: skip

SINCE = [
    Asked("date-literal", Style.STANDARD, "SELECT COUNT(*) FROM visits WHERE admitted >= DATE '2025-07-01'",
          lambda h: line(h.visits, count(lambda v: v.admitted >= date(2025, 7, 1)))),
    Asked("date-cast", Style.POSTGRESQL,
          "SELECT COUNT(*) FROM visits WHERE admitted >= '2025-07-01'::date AND admitted < CAST('2025-10-01' AS "
          "DATE)",
          lambda h: line(h.visits, count(lambda v: v.admitted.month in (7, 8, 9)))),
    Asked("date-of-a-literal-plus-an-interval", Style.METABASE,
          "SELECT COUNT(*) FROM visits WHERE admitted >= DATE '2025-06-01' AND admitted < DATE '2025-06-01' + "
          "INTERVAL '1 month'",
          lambda h: line(h.visits, count(lambda v: v.admitted.month == 6))),
    Asked("to-date", Style.SUPERSET,
          "SELECT ward AS ward, COUNT(*) AS count FROM visits WHERE admitted >= TO_DATE('2025-04-01', "
          "'YYYY-MM-DD') AND admitted < TO_DATE('2025-05-01', 'YYYY-MM-DD') GROUP BY ward",
          lambda h: table(where(h.visits, lambda v: v.admitted.month == 4), "ward", n),
          "SELECT ward, COUNT(*) FROM visits WHERE MONTH(admitted) = 4 GROUP BY ward"),
    Asked("timestamp-literals", Style.SUPERSET,
          "SELECT COUNT(*) AS count FROM visits WHERE admitted >= '2025-03-01 00:00:00.000000' AND admitted < "
          "'2025-04-01 00:00:00.000000'",
          lambda h: line(h.visits, count(lambda v: v.admitted.month == 3))),
    Asked("extract-in-where", Style.STANDARD,
          "SELECT sex, COUNT(*) FROM visits WHERE EXTRACT(MONTH FROM admitted) = 12 GROUP BY sex",
          lambda h: table(where(h.visits, lambda v: v.admitted.month == 12), "sex", n)),
    Asked("between-days", Style.STANDARD,
          "SELECT COUNT(*) FROM visits WHERE admitted BETWEEN '2025-02-01' AND '2025-02-28'",
          lambda h: line(h.visits, count(lambda v: v.admitted.month == 2))),
    Asked("date-trunc-in-where", Style.DBT,
          "select count(*) from visits where date_trunc('month', admitted) = '2025-08-01'",
          lambda h: line(h.visits, count(lambda v: v.admitted.month == 8))),
]  # fmt: skip

ASKED = [*WRITTEN, *PARTS, *TRUNCATED, *BETWEEN, *SINCE]
