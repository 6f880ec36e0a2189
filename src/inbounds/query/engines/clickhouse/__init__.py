"""ClickHouse: its tables, and a calendar in integers."""

from inbounds.query.engines.clickhouse.database import ClickHouse, open_table

__all__ = ["ClickHouse", "open_table"]
