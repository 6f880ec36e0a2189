"""The contract for TPC-H: a customer is the unit, with all orders and their lines; what is sold, and where, is public.

Bounds and keys are those that the specification of the benchmark gives to its columns (section 4.2), at every scale; no
row was looked at.
"""

from __future__ import annotations

from pathlib import Path

ORDERS, LINES = 30, 120
"""So many orders, and lines of orders, of a customer count in full."""

CONTRACT = f"""
[dataset]
name = "customer"
source = 'FOLDER/customer.parquet'
unit = "c_custkey"
whole = ["c_custkey"]
max_rows_per_unit = 1

[columns.c_nationkey]
keys_of = "nation"
[columns.c_acctbal]
bounds = "[-999.99, 9999.99] step 0.01"
[columns.c_mktsegment]
keys = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
[columns.c_phone]
text = true
[columns.c_comment]
text = true

[tables.orders]
source = 'FOLDER/orders.parquet'
unit = "o_custkey"
key = "o_orderkey"
whole = ["o_custkey", "o_orderkey"]
max_rows_per_unit = {ORDERS}
[tables.orders.columns.o_orderstatus]
keys = ["F", "O", "P"]
[tables.orders.columns.o_totalprice]
bounds = "[0, 793422] step 0.01"        # seven lines, each at most 104950 with 8 % of tax
[tables.orders.columns.o_orderdate]
bounds = "[1992-01-01, 1998-12-31]"
[tables.orders.columns.o_orderpriority]
keys = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
[tables.orders.columns.o_shippriority]
keys = [0]
[tables.orders.columns.o_comment]
text = true

[tables.lineitem]
source = 'FOLDER/lineitem.parquet'
belongs_to = "orders"
whole = ["l_orderkey"]
on = {{ l_orderkey = "o_orderkey" }}
max_rows_per_unit = {LINES}
[tables.lineitem.columns.l_partkey]
keys_of = "part"
[tables.lineitem.columns.l_suppkey]
keys_of = "supplier"
[tables.lineitem.columns.l_linenumber]
bounds = "[1, 7] step 1"
[tables.lineitem.columns.l_quantity]
bounds = "[1, 50] step 1"
[tables.lineitem.columns.l_extendedprice]
bounds = "[900, 104950] step 0.01"      # 1 to 50 parts at 900.00 to 2099.00
[tables.lineitem.columns.l_discount]
bounds = "[0, 0.10] step 0.01"
[tables.lineitem.columns.l_tax]
bounds = "[0, 0.08] step 0.01"
[tables.lineitem.columns.l_returnflag]
keys = ["A", "N", "R"]
[tables.lineitem.columns.l_linestatus]
keys = ["F", "O"]
[tables.lineitem.columns.l_shipdate]
bounds = "[1992-01-01, 1998-12-31]"
[tables.lineitem.columns.l_commitdate]
bounds = "[1992-01-01, 1998-12-31]"
[tables.lineitem.columns.l_receiptdate]
bounds = "[1992-01-01, 1998-12-31]"
[tables.lineitem.columns.l_shipinstruct]
keys = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]
[tables.lineitem.columns.l_shipmode]
keys = ["AIR", "AIR REG", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]   # question 19 asks for AIR REG
[tables.lineitem.columns.l_comment]
text = true

[tables.part]
source = 'FOLDER/part.parquet'
public = true
key = "p_partkey"
[tables.supplier]
source = 'FOLDER/supplier.parquet'
public = true
key = "s_suppkey"
[tables.partsupp]
source = 'FOLDER/partsupp.parquet'
public = true
key = ["ps_partkey", "ps_suppkey"]
[tables.nation]
source = 'FOLDER/nation.parquet'
public = true
key = "n_nationkey"
[tables.region]
source = 'FOLDER/region.parquet'
public = true
key = "r_regionkey"

[budget]
total = 1000000
"""


def contract(folder: Path) -> str:
    """Return the contract for the files in a folder."""
    return CONTRACT.replace("FOLDER", str(folder))
