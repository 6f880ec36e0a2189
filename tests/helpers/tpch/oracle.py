"""The rows behind each answered question in plain Python, each with the customer whose it is, and what they weigh.

Nothing here is SQL, and nothing is shared with the package.  Money is counted in cents and in parts of a cent, so that
everything is a whole number.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from tests.helpers.tpch.contract import ORDERS

Group = tuple[Any, ...]


class OwnedRow(NamedTuple):
    """A row behind an answer: whose it is, its group, and what is measured, as whole numbers."""

    owner: int
    group: Group
    values: tuple[int, ...] = ()


class Order(NamedTuple):
    """What questions look at in an order."""

    key: int
    owner: int
    status: str
    day: date
    priority: str
    comment: str


class Line(NamedTuple):
    """What questions look at in a line of an order; prices and quantities in hundredths."""

    order: int
    part: int
    supplier: int
    quantity: int
    price: int
    discount: int
    tax: int
    flag: str
    status: str
    shipped: date
    promised: date
    received: date
    instruction: str
    mode: str

    @property
    def discounted(self) -> int:
        """The price after the discount, in hundredths of a cent."""
        return self.price * (100 - self.discount)

    @property
    def is_late(self) -> bool:
        """Whether it came later than promised."""
        return self.received > self.promised


class Customer(NamedTuple):
    """What questions look at in a customer; the balance in cents."""

    key: int
    nation: int
    phone: str
    balance: int


class Part(NamedTuple):
    """What questions look at in a part."""

    key: int
    name: str
    brand: str
    kind: str
    size: int
    container: str


COLUMNS = {
    "orders": "o_orderkey o_custkey o_orderstatus o_orderdate o_orderpriority o_comment",
    "lineitem": "l_orderkey l_partkey l_suppkey l_quantity l_extendedprice l_discount l_tax l_returnflag l_linestatus "
    "l_shipdate l_commitdate l_receiptdate l_shipinstruct l_shipmode",
    "customer": "c_custkey c_nationkey c_phone c_acctbal",
    "part": "p_partkey p_name p_brand p_type p_size p_container",
    "supplier": "s_suppkey s_name s_nationkey",
    "partsupp": "ps_partkey ps_suppkey ps_supplycost",
    "nation": "n_nationkey n_name n_regionkey",
    "region": "r_regionkey r_name",
}


def read(folder: Path, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table; what has two decimals is a whole number of hundredths."""
    columns = parquet.read_table(folder / f"{table}.parquet", columns=COLUMNS[table].split())
    return zip(*(_whole(column).to_pylist() for column in columns.columns), strict=True)


def _whole(column: Any) -> Any:
    if not pa.types.is_decimal(column.type):
        return column
    return pc.multiply(column, pa.scalar(100, pa.decimal128(3))).cast(pa.int64())


class Shop:
    """All tables, with what they refer to by key."""

    def __init__(self, folder: Path) -> None:
        self.customers = {row[0]: Customer(*row) for row in read(folder, "customer")}
        self.orders = {row[0]: Order(*row) for row in read(folder, "orders")}
        self.lines = [Line(*row) for row in read(folder, "lineitem")]
        self.parts = {row[0]: Part(*row) for row in read(folder, "part")}
        self.suppliers = {key: (name, nation) for key, name, nation in read(folder, "supplier")}
        self.costs = {(part, supplier): cost for part, supplier, cost in read(folder, "partsupp")}
        regions = dict(read(folder, "region"))
        self.nations = {key: (name, regions[region]) for key, name, region in read(folder, "nation")}

    def owner(self, line: Line) -> int:
        """Return whose a line is."""
        return self.orders[line.order].owner

    def seller(self, line: Line) -> str:
        """Return the nation of a line's supplier."""
        return self.nations[self.suppliers[line.supplier][1]][0]

    def home(self, owner: int) -> tuple[str, str]:
        """Return the nation of a customer, and its region."""
        return self.nations[self.customers[owner].nation]


def _question_1(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if line.shipped <= date(1998, 9, 2):
            charge = line.discounted * (100 + line.tax)
            values = (line.quantity, line.price, line.discounted, charge, line.discount)
            yield OwnedRow(shop.owner(line), (line.flag, line.status), values)


def _question_4(shop: Shop) -> Iterator[OwnedRow]:
    late = {line.order for line in shop.lines if line.is_late}
    for order in shop.orders.values():
        if date(1993, 7, 1) <= order.day < date(1993, 10, 1) and order.key in late:
            yield OwnedRow(order.owner, (order.priority,))


def _question_5(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        order = shop.orders[line.order]
        if order.day.year == 1994:
            nation, region = shop.home(order.owner)
            if region == "ASIA" and shop.seller(line) == nation:
                yield OwnedRow(order.owner, (nation,), (line.discounted,))


def _question_6(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if line.shipped.year == 1994 and 5 <= line.discount <= 7 and line.quantity < 2400:
            yield OwnedRow(shop.owner(line), (), (line.price * line.discount,))


def _question_7(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if line.shipped.year in (1995, 1996):
            owner, seller = shop.owner(line), shop.seller(line)
            buyer, _ = shop.home(owner)
            if {seller, buyer} == {"FRANCE", "GERMANY"}:
                yield OwnedRow(owner, (seller, buyer, line.shipped.year), (line.discounted,))


def _question_8(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        order = shop.orders[line.order]
        if order.day.year in (1995, 1996) and shop.parts[line.part].kind == "ECONOMY ANODIZED STEEL":
            _, region = shop.home(order.owner)
            if region == "AMERICA":
                of_brazil = line.discounted if shop.seller(line) == "BRAZIL" else 0
                yield OwnedRow(order.owner, (order.day.year,), (line.discounted, of_brazil))


def _question_9(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if "green" in shop.parts[line.part].name:
            order = shop.orders[line.order]
            profit = line.discounted - shop.costs[line.part, line.supplier] * line.quantity
            yield OwnedRow(order.owner, (shop.seller(line), order.day.year), (profit,))


def _question_12(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        in_order = line.shipped < line.promised < line.received
        if in_order and line.received.year == 1994 and line.mode in ("MAIL", "SHIP"):
            order = shop.orders[line.order]
            high = int(order.priority in ("1-URGENT", "2-HIGH"))
            yield OwnedRow(order.owner, (line.mode,), (high, 1 - high))


def _question_13(shop: Shop) -> Iterator[OwnedRow]:
    counts = Counter(order.owner for order in shop.orders.values() if not _is_special(order.comment))
    for owner in shop.customers:
        yield OwnedRow(owner, (min(counts[owner], ORDERS),))


def _is_special(comment: str) -> bool:
    _, found, rest = comment.partition("special")
    return bool(found) and "requests" in rest


def _question_14(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if (line.shipped.year, line.shipped.month) == (1995, 9):
            promoted = shop.parts[line.part].kind.startswith("PROMO")
            yield OwnedRow(shop.owner(line), (), (line.discounted, line.discounted if promoted else 0))


def _question_15(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if line.shipped.year == 1996 and line.shipped.month <= 3:
            yield OwnedRow(shop.owner(line), (line.supplier,), (line.discounted,))


WANTED = {  # how it is packed, the least quantity, and the greatest size
    "Brand#12": ({"SM CASE", "SM BOX", "SM PACK", "SM PKG"}, 1, 5),
    "Brand#23": ({"MED BAG", "MED BOX", "MED PKG", "MED PACK"}, 10, 10),
    "Brand#34": ({"LG CASE", "LG BOX", "LG PACK", "LG PKG"}, 20, 15),
}


def _question_19(shop: Shop) -> Iterator[OwnedRow]:
    for line in shop.lines:
        if line.mode in ("AIR", "AIR REG") and line.instruction == "DELIVER IN PERSON":
            part = shop.parts[line.part]
            containers, least, most = WANTED.get(part.brand, (set[str](), 0, 0))
            if part.container in containers and least <= line.quantity / 100 <= least + 10 and 1 <= part.size <= most:
                yield OwnedRow(shop.owner(line), (), (line.discounted,))


def _question_21(shop: Shop) -> Iterator[OwnedRow]:
    suppliers, late = defaultdict(set), defaultdict(set)
    for line in shop.lines:
        suppliers[line.order].add(line.supplier)
        if line.is_late:
            late[line.order].add(line.supplier)
    for line in shop.lines:
        order = shop.orders[line.order]
        is_alone = len(suppliers[line.order]) > 1 and late[line.order] == {line.supplier}
        if line.is_late and is_alone and order.status == "F" and shop.seller(line) == "SAUDI ARABIA":
            yield OwnedRow(order.owner, (shop.suppliers[line.supplier][0],))


def _question_22(shop: Shop) -> Iterator[OwnedRow]:
    buyers = {order.owner for order in shop.orders.values()}
    for customer in shop.customers.values():
        code = customer.phone[:2]
        is_rich = customer.balance > 500000
        if is_rich and code in ("13", "31", "23", "29", "30", "18", "17") and customer.key not in buyers:
            yield OwnedRow(customer.key, (code,), (customer.balance,))


QUESTIONS: dict[int, Callable[[Shop], Iterator[OwnedRow]]] = {
    1: _question_1,
    4: _question_4,
    5: _question_5,
    6: _question_6,
    7: _question_7,
    8: _question_8,
    9: _question_9,
    12: _question_12,
    13: _question_13,
    14: _question_14,
    15: _question_15,
    19: _question_19,
    21: _question_21,
    22: _question_22,
}
"""The rows behind each question that is answered."""


def rows_behind(number: int, shop: Shop) -> list[OwnedRow]:
    """Return the rows behind a question."""
    return list(QUESTIONS[number](shop))


def sums_by_group(rows: Iterable[OwnedRow]) -> dict[Group, list[int]]:
    """Return the number of rows of each group, and the sum of each value, all counted in full."""
    return _added_up((row.group, (1, *row.values)) for row in rows)


def sums_by_owner(rows: Iterable[OwnedRow]) -> dict[tuple[int, Group], list[int]]:
    """Return the same for each customer in each group."""
    return _added_up(((row.owner, row.group), (1, *row.values)) for row in rows)


def weighed(rows: Iterable[OwnedRow], limit: int, one: int) -> dict[Group, list[int]]:
    """Return the weighed number of rows of each group, and each weighed sum, where a row in full weighs `one`.

    A customer with `m` rows, in whatever groups, has what they add to a group counted as `t * limit * one / max(m,
    limit)`, rounded towards zero.
    """
    by_owner = sums_by_owner(rows)
    every: Counter[int] = Counter()
    for (owner, _), (count, *_) in by_owner.items():
        every[owner] += count
    return _added_up(
        (group, [share(total, every[owner], limit, one) for total in totals])
        for (owner, group), totals in by_owner.items()
    )


def share(total: int, every: int, limit: int, one: int) -> int:
    """Return what a total of a customer with so many rows counts for."""
    found = abs(total) * limit * one // max(every, limit)
    return found if total >= 0 else -found


def _added_up(parts: Iterable[tuple[Any, Iterable[int]]]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = {}
    for key, values in parts:
        if (totals := found.get(key)) is None:
            found[key] = list(values)
        else:
            for place, value in enumerate(values):
                totals[place] += value
    return found
