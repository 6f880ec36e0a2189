"""Statements of several SELECTs that are refused, and what their remedies lead to; all about the clinic."""

from __future__ import annotations

from inbounds.query import Dataset
from tests.helpers.remedies.followed import Followed, followed

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
BY_DAY = "SELECT admitted, COUNT(*) AS n FROM visits GROUP BY admitted"
PIVOT = "PIVOT visits ON clinic USING COUNT(*) GROUP BY sex"


def join(how: str, shown: str = "a.clinic, b.n") -> str:
    """Return a statement that joins counts by clinic with themselves."""
    return f"WITH t AS ({BY_CLINIC}) SELECT {shown} FROM t a {how}"


def top(on: str, keys: str = "clinic AS c", how: str = "JOIN", by: str = "clinic") -> str:
    """Return a statement about the clinics that another SELECT chooses."""
    names = keys.replace(" AS c", "")
    chosen = f"(SELECT {keys}, COUNT(*) AS o FROM visits GROUP BY {names} ORDER BY o DESC LIMIT 2) AS top"
    return f"SELECT {by}, COUNT(*) AS n FROM visits {how} {chosen} {on} GROUP BY {by}"


def change(dataset: Dataset) -> object:
    """Change a statement of several SELECTs in Python."""
    return dataset.sql(f"{COUNT} UNION ALL {COUNT}").where("age > 3")


def union_of_unions(width: int) -> str:
    """Return SELECTs that name each other again and again."""
    levels = (f"t{i} AS ({' UNION ALL '.join([f'SELECT n FROM t{i - 1}'] * width)})" for i in range(1, 5))
    return f"WITH t0 AS ({COUNT}), {', '.join(levels)} SELECT n FROM t4"


CASES: list[Followed] = [
    followed("SELECT * FROM visits PIVOT (COUNT(*) FOR ward IN (1))", PIVOT),
    followed("PIVOT visits ON clinic USING COUNT(*)", PIVOT),
    followed("PIVOT visits ON age + 1 USING COUNT(*) GROUP BY sex", PIVOT),
    followed(f"PIVOT ({BY_CLINIC}) ON n USING SUM(n) GROUP BY clinic", PIVOT),
    followed(f"{COUNT} UNION {COUNT}", f"{COUNT} UNION ALL {COUNT}"),
    followed(f"{BY_CLINIC} UNION ALL {COUNT}", f"{BY_CLINIC} UNION ALL SELECT 'all', COUNT(*) FROM visits"),
    followed(
        f"{BY_CLINIC} UNION ALL SELECT 3, COUNT(*) FROM visits",
        f"{BY_CLINIC} UNION ALL SELECT 'all', COUNT(*) FROM visits",
    ),
    followed(
        "SELECT 1, COUNT(*) FROM visits UNION ALL SELECT COUNT(*), 1 FROM visits",
        "SELECT 1, COUNT(*) FROM visits UNION ALL SELECT 1, COUNT(*) FROM visits",
    ),
    followed(" UNION ALL ".join([COUNT] * 21), " UNION ALL ".join([COUNT] * 20)),
    followed(f"SELECT COUNT(*) / ({COUNT} UNION ALL {COUNT}) FROM visits", f"SELECT COUNT(*) / ({COUNT}) FROM visits"),
    followed(f"SELECT COUNT(*) / ({BY_CLINIC}) FROM visits", f"SELECT COUNT(*) / ({COUNT}) FROM visits"),
    followed(
        "SELECT " + ", ".join(f"(SELECT COUNT(*) FROM visits WHERE age > {age}) AS n{age}" for age in range(21)),
        "SELECT " + ", ".join(f"(SELECT COUNT(*) FROM visits WHERE age > {age}) AS n{age}" for age in range(20)),
    ),
    followed(join("FULL JOIN t b USING (clinic)"), join("LEFT JOIN t b USING (clinic)")),
    followed(join("JOIN t b"), join("JOIN t b ON a.clinic = b.clinic"), join("CROSS JOIN t b")),
    followed(join("JOIN t b USING (sex)"), join("JOIN t b ON a.clinic = b.clinic")),
    followed(join("JOIN t a USING (clinic)"), join("JOIN t b USING (clinic)")),
    followed(join("JOIN t b USING (clinic)", "clinic, n"), join("JOIN t b USING (clinic)", "clinic, a.n")),
    followed(join("JOIN t b USING (clinic)", "c.n"), join("JOIN t b USING (clinic)", "b.n")),
    followed(join("JOIN t b ON a.clinic = b.clinic", "*"), join("JOIN t b ON a.clinic = b.clinic", "a.*, b.n AS m")),
    followed(join("CROSS JOIN t b", "a.* EXCLUDE (n)"), join("CROSS JOIN t b", "a.clinic, b.n")),
    followed(
        f"WITH t AS ({BY_CLINIC}) SELECT x FROM t AS a(x) CROSS JOIN t b",
        f"WITH t AS ({BY_CLINIC}) SELECT x, y FROM t AS a(x, y) CROSS JOIN t b",
    ),
    followed(
        f"WITH t AS ({BY_DAY}) SELECT a.n FROM t a, t b, t c WHERE a.n > b.n",
        f"WITH t AS ({BY_DAY}) SELECT a.n FROM t a JOIN t b ON a.admitted = b.admitted JOIN t c "
        "ON a.admitted = c.admitted",
    ),
    followed(
        f"WITH u AS ({join('CROSS JOIN t b', 'a.n, b.n')}) SELECT n FROM u",
        f"WITH u AS ({join('CROSS JOIN t b', 'a.n, b.n AS m')}) SELECT n FROM u",
    ),
    followed(top("ON clinic = c", how="LEFT JOIN"), top("ON clinic = c")),
    followed(top("ON clinic > c"), top("ON clinic = c")),
    followed(top("ON clinic = c", by="sex"), top("ON clinic = c", by="clinic, sex")),
    followed(top("ON clinic = c", keys="clinic AS c, sex"), top("ON clinic = c")),
    followed(union_of_unions(12), union_of_unions(1)),
    followed(union_of_unions(3), union_of_unions(1)),
    followed(
        " UNION ALL ".join(
            f"SELECT {', '.join(f'MEDIAN(age + {i * 10 + j})' for j in range(10))} FROM visits" for i in range(6)
        ),
        COUNT,
    ),
    followed(change, f"{COUNT} UNION ALL SELECT COUNT(*) FROM visits WHERE age > 3"),
]
