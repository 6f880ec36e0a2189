"""Each answered question as an engineer would write it for customers' rows: whose each row is, and its weighed sums.

`OWNED` holds for each question a SELECT of one row for each row behind the answer: the customer, the group, and what is
measured.  `weighed` adds them up with the rows of a customer weighed by `min(1, k / n)`, in doubles.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.helpers.tpch.contract import LINES, ORDERS


@dataclass(frozen=True)
class Owned:
    """The rows behind a question: its groups and values by name, and a SELECT of `owner`, these, and nothing else."""

    keys: tuple[str, ...]
    values: dict[str, int]
    """What is measured, and how many units of it make 1: all are whole numbers in that unit."""
    limit: int
    """So many rows of a customer count in full: the greatest limit of the tables that its rows are of."""
    rows: str

    def by_owner(self) -> str:
        """Return a SELECT of the rows and sums of each customer in each group."""
        sums = "".join(f", SUM({name}) AS {name}" for name in self.values)
        return f"SELECT {_listed('owner', self.keys)}, COUNT(*) AS n{sums} FROM ({self.rows}) GROUP BY ALL"

    def weighed(self) -> str:
        """Return a SELECT of the weighed number of rows and sums of each group."""
        share = f"LEAST(1, {self.limit} / SUM(n) OVER (PARTITION BY owner)) AS w"
        sums = "".join(f", SUM({name} * w) AS {name}" for name in self.values)
        keys = "".join(f"{key}, " for key in self.keys)
        return f"SELECT {keys}SUM(n * w) AS n{sums} FROM (SELECT *, {share} FROM ({self.by_owner()})) GROUP BY ALL"


def _listed(first: str, others: tuple[str, ...]) -> str:
    return ", ".join((first, *others))


PRICE = "l_extendedprice * (1 - l_discount)"
OF_ORDER = "lineitem JOIN orders ON l_orderkey = o_orderkey"
CENTS, FINE, FINEST = 10**2, 10**4, 10**6

OWNED = {
    1: Owned(
        ("l_returnflag", "l_linestatus"),
        {"quantity": CENTS, "price": CENTS, "discounted": FINE, "charge": FINEST, "discount": CENTS},
        LINES,
        f"""
        SELECT o_custkey AS owner, l_returnflag, l_linestatus, l_quantity AS quantity, l_extendedprice AS price,
            {PRICE} AS discounted, {PRICE} * (1 + l_tax) AS charge, l_discount AS discount
        FROM {OF_ORDER} WHERE l_shipdate <= DATE '1998-09-02'
        """,
    ),
    4: Owned(
        ("o_orderpriority",),
        {},
        ORDERS,
        """
        SELECT o_custkey AS owner, o_orderpriority FROM orders
        WHERE o_orderdate BETWEEN DATE '1993-07-01' AND DATE '1993-09-30'
            AND o_orderkey IN (SELECT l_orderkey FROM lineitem WHERE l_commitdate < l_receiptdate)
        """,
    ),
    5: Owned(
        ("n_name",),
        {"revenue": FINE},
        LINES,
        f"""
        SELECT c_custkey AS owner, n_name, {PRICE} AS revenue
        FROM {OF_ORDER} JOIN customer ON o_custkey = c_custkey JOIN supplier ON l_suppkey = s_suppkey
            JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
        WHERE c_nationkey = s_nationkey AND r_name = 'ASIA'
            AND o_orderdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31'
        """,
    ),
    6: Owned(
        (),
        {"revenue": FINE},
        LINES,
        f"""
        SELECT o_custkey AS owner, l_extendedprice * l_discount AS revenue FROM {OF_ORDER}
        WHERE l_shipdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31' AND l_discount BETWEEN 0.05 AND 0.07
            AND l_quantity < 24
        """,
    ),
    7: Owned(
        ("supp_nation", "cust_nation", "l_year"),
        {"revenue": FINE},
        LINES,
        f"""
        SELECT c_custkey AS owner, n1.n_name AS supp_nation, n2.n_name AS cust_nation, YEAR(l_shipdate) AS l_year,
            {PRICE} AS revenue
        FROM {OF_ORDER} JOIN customer ON o_custkey = c_custkey JOIN supplier ON l_suppkey = s_suppkey
            JOIN nation n1 ON s_nationkey = n1.n_nationkey JOIN nation n2 ON c_nationkey = n2.n_nationkey
        WHERE (n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY' OR n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')
            AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        """,
    ),
    8: Owned(
        ("o_year",),
        {"volume": FINE, "of_brazil": FINE},
        LINES,
        f"""
        SELECT c_custkey AS owner, YEAR(o_orderdate) AS o_year, {PRICE} AS volume,
            CASE WHEN n2.n_name = 'BRAZIL' THEN {PRICE} ELSE 0 END AS of_brazil
        FROM {OF_ORDER} JOIN customer ON o_custkey = c_custkey JOIN supplier ON l_suppkey = s_suppkey
            JOIN part ON l_partkey = p_partkey JOIN nation n1 ON c_nationkey = n1.n_nationkey
            JOIN region ON n1.n_regionkey = r_regionkey JOIN nation n2 ON s_nationkey = n2.n_nationkey
        WHERE r_name = 'AMERICA' AND p_type = 'ECONOMY ANODIZED STEEL'
            AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        """,
    ),
    9: Owned(
        ("nation", "o_year"),
        {"profit": FINE},
        LINES,
        f"""
        SELECT o_custkey AS owner, n_name AS nation, YEAR(o_orderdate) AS o_year,
            {PRICE} - ps_supplycost * l_quantity AS profit
        FROM {OF_ORDER} JOIN part ON l_partkey = p_partkey JOIN supplier ON l_suppkey = s_suppkey
            JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey JOIN nation ON s_nationkey = n_nationkey
        WHERE p_name LIKE '%green%'
        """,
    ),
    12: Owned(
        ("l_shipmode",),
        {"high": 1, "low": 1},
        LINES,
        f"""
        SELECT o_custkey AS owner, l_shipmode, (o_orderpriority IN ('1-URGENT', '2-HIGH'))::INTEGER AS high,
            (o_orderpriority NOT IN ('1-URGENT', '2-HIGH'))::INTEGER AS low
        FROM {OF_ORDER}
        WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
            AND l_receiptdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31'
        """,
    ),
    13: Owned(
        ("c_count",),
        {},
        1,
        f"""
        SELECT c_custkey AS owner, LEAST(COUNT(o_orderkey), {ORDERS}) AS c_count
        FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
        GROUP BY c_custkey
        """,
    ),
    14: Owned(
        (),
        {"revenue": FINE, "of_promotion": FINE},
        LINES,
        f"""
        SELECT o_custkey AS owner, {PRICE} AS revenue,
            CASE WHEN p_type LIKE 'PROMO%' THEN {PRICE} ELSE 0 END AS of_promotion
        FROM {OF_ORDER} JOIN part ON l_partkey = p_partkey
        WHERE l_shipdate BETWEEN DATE '1995-09-01' AND DATE '1995-09-30'
        """,
    ),
    15: Owned(
        ("l_suppkey",),
        {"revenue": FINE},
        LINES,
        f"""
        SELECT o_custkey AS owner, l_suppkey, {PRICE} AS revenue FROM {OF_ORDER}
        WHERE l_shipdate BETWEEN DATE '1996-01-01' AND DATE '1996-03-31'
        """,
    ),
    19: Owned(
        (),
        {"revenue": FINE},
        LINES,
        f"""
        SELECT o_custkey AS owner, {PRICE} AS revenue FROM {OF_ORDER} JOIN part ON l_partkey = p_partkey
        WHERE l_shipmode = 'AIR' AND l_shipinstruct = 'DELIVER IN PERSON' AND (
            p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
                AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5
            OR p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
                AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10
            OR p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
                AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15)
        """,
    ),
    21: Owned(
        ("s_name",),
        {},
        LINES,
        """
        SELECT o_custkey AS owner, s_name
        FROM lineitem l1 JOIN orders ON l1.l_orderkey = o_orderkey JOIN supplier ON l1.l_suppkey = s_suppkey
            JOIN nation ON s_nationkey = n_nationkey
        WHERE n_name = 'SAUDI ARABIA' AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate
            AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
            AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey
                AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate)
        """,
    ),
    22: Owned(
        ("cntrycode",),
        {"balance": CENTS},
        1,
        """
        SELECT c_custkey AS owner, LEFT(c_phone, 2) AS cntrycode, c_acctbal AS balance
        FROM customer ANTI JOIN orders ON c_custkey = o_custkey
        WHERE LEFT(c_phone, 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > 5000
        """,
    ),
}
