"""A schema of PostgreSQL: tables with comments and rights, written in one transaction.

Readers see the old tables until all new ones are there.  Tables that somebody else's views use are not dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from inbounds.errors import InvalidParameter
from inbounds.ledger.values.address import without_secrets
from inbounds.publish.destinations.comparison import compare_sheet
from inbounds.publish.destinations.destination import Destination
from inbounds.publish.destinations.duckdb_file import REPORT, TABLES, compare_facts
from inbounds.publish.destinations.facts import describe_sheet, facts_of, report_text, table_facts
from inbounds.publish.destinations.sheet import Kind, Sheet, distinct_names, sheets_of
from inbounds.report.report import Report

try:
    import psycopg
    from psycopg import sql

    from inbounds.ledger.stores.postgres_connection import connect
except ImportError:
    raise ImportError("a schema of PostgreSQL needs psycopg: pip install 'inbounds[postgres]'") from None

LONGEST = 63
"""PostgreSQL cuts names after so many bytes."""

SILENCE = 60
"""A server that says nothing for so many seconds is given up."""

TYPES = {
    Kind.WHOLE: "bigint",
    Kind.WIDE: "numeric(38, 0)",
    Kind.NUMBER: "double precision",
    Kind.TEXT: "text",
    Kind.TRUTH: "boolean",
    Kind.DAY: "date",
    Kind.MOMENT: "timestamp",
    Kind.CLOCK: "time",
}

TURN = 7_038_451_190_221
"""Two that publish at a time take turns: the number of the lock."""

RELATIONS = """
    SELECT c.relname, c.relkind::text, obj_description(c.oid, 'pg_class')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
"""


class PostgresSchema(Destination):
    """A schema, which `?schema=` names; `?role=` names who may read it, by default everybody."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        base, _, query = target.partition("?")
        pairs = parse_qsl(query, keep_blank_values=True)
        ours = {name: value for name, value in pairs if name in ("schema", "role")}
        rest = urlencode([pair for pair in pairs if pair[0] not in ours], quote_via=quote)
        self.url = f"{base}?{rest}" if rest else base
        self.schema, self.role = ours.get("schema", ""), ours.get("role") or None

    @property
    def called(self) -> str:
        return f"{without_secrets(self.url.partition('?')[0])}?schema={self.schema}"

    def check(self, name: str | None, *, practice: bool) -> None:
        if not self.schema or len(self.schema.encode()) > LONGEST or "\0" in self.schema:
            raise InvalidParameter(
                "a report in PostgreSQL needs a schema of its own, got none or one that is too long; write "
                f"{without_secrets(self.url.partition('?')[0])}?schema=reports"
            )
        with self._connected("written") as connection:
            self._check(connection, name, practice=practice)

    def _check(self, connection: Any, name: str | None, *, practice: bool) -> None:
        if self.role and not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [self.role]).fetchone():
            raise InvalidParameter(
                f"role must be one that the server has, got {self.role!r}; create it, or leave role out"
            )
        right, of = ("schema", self.schema) if self._exists(connection) else ("database", connection.info.dbname)
        asked = f"SELECT has_{right}_privilege(%s, 'CREATE')"
        if not connection.execute(asked, [of]).fetchone()[0]:
            raise InvalidParameter(
                f"you need the right to create in the {right} {of!r}; ask for GRANT CREATE ON {right.upper()}"
            )
        there = self._relations(connection)
        if not there:
            return
        data = self._stored(connection)
        self.refuse_another(data, name, practice=practice)
        assert data is not None
        strangers = sorted(there.keys() - self._named(self.as_report(data)))
        if strangers:
            raise InvalidParameter(
                f"a schema that is replaced may hold nothing but a report, got {strangers[0]!r} in {self.schema!r}; "
                "move it, or choose another schema"
            )

    def write(self, report: Report) -> None:
        with self._connected("written") as connection:  # which commits at the end, or not at all
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [TURN])
            self._check(connection, report.name, practice=report.practice)
            own = sql.Identifier(self.schema)
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(own))
            for name in self._relations(connection):
                connection.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(self.schema, name)))
            self._comment(connection, sql.SQL("SCHEMA {}").format(own), report.title)
            sheets = self._sheets(report)
            for sheet in sheets:
                self._create(connection, report, sheet)
            self._fill(connection, REPORT, [facts_of(report) | {"report": report_text(report)}])
            self._fill(connection, TABLES, [table_facts(sheet) for sheet in sheets])
            role = sql.Identifier(self.role) if self.role else sql.SQL("PUBLIC")
            connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(own, role))
            connection.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}").format(own, role))

    def _create(self, connection: Any, report: Report, sheet: Sheet) -> None:
        kinds = {column.name: TYPES[column.kind] for column in sheet.columns}
        self._copy(connection, sheet.name, kinds, sheet.rows)
        table = sql.Identifier(self.schema, sheet.name)
        self._comment(connection, sql.SQL("TABLE {}").format(table), describe_sheet(report, sheet.table))
        for column in sheet.columns:
            place = sql.Identifier(self.schema, sheet.name, column.name)
            self._comment(connection, sql.SQL("COLUMN {}").format(place), column.meaning)

    def _fill(self, connection: Any, name: str, rows: Sequence[dict[str, Any]]) -> None:
        """Create a table of facts."""
        types = {bool: "boolean", float: "double precision", date: "date"}
        kinds = {
            fact: types.get(next((type(row[fact]) for row in rows if row[fact] is not None), str), "text")
            for fact in rows[0]
        }
        self._copy(connection, name, kinds, [tuple(row.values()) for row in rows])

    def _copy(self, connection: Any, name: str, kinds: dict[str, str], rows: Sequence[Sequence[Any]]) -> None:
        table = sql.Identifier(self.schema, name)
        fields = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind)) for column, kind in kinds.items()
        )
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, fields))
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in rows:
                copy.write_row([_storable(cell) for cell in row])

    @staticmethod
    def _comment(connection: Any, of: sql.Composed, text: str) -> None:
        connection.execute(sql.SQL("COMMENT ON {} IS {}").format(of, sql.Literal(_storable(text))))

    def stored(self) -> dict[str, Any]:
        with self._connected("read") as connection:
            data = self._stored(connection)
        if data is None:
            raise self.no_report()
        return data

    def _stored(self, connection: Any) -> dict[str, Any] | None:
        if self._relations(connection).get(REPORT, ("", None))[0] != "r":  # a view could be any query
            return None
        names, rows = self._fetch(connection, REPORT)
        if len(rows) != 1 or "report" not in names:
            return None
        try:
            return self.read_stored(rows[0][names.index("report")])
        except (InvalidParameter, TypeError):
            return None

    def faults(self, report: Report) -> Iterator[str]:
        sheets = self._sheets(report)
        with self._connected("read") as connection:
            there, named = self._relations(connection), self._named(report)
            tables = {name for name, (kind, _) in there.items() if kind == "r"}
            yield from (f"table {name}: it is missing" for name in sorted(named - tables))
            yield from (f"table {name}: it is not part of the report" for name in sorted(there.keys() - named))
            for sheet in sheets:
                if sheet.name in tables:
                    names, rows = self._fetch(connection, sheet.name)
                    published = [tuple(map(_storable, row)) for row in sheet.rows]
                    yield from compare_sheet(sheet, names, _in_order(rows, published), published)
                    if there[sheet.name][1] != _storable(describe_sheet(report, sheet.table)):
                        yield f"table {sheet.name}: its comment was changed"
            for name, facts in ((REPORT, [facts_of(report)]), (TABLES, [table_facts(sheet) for sheet in sheets])):
                if name in tables:
                    storable = [{fact: _storable(value) for fact, value in row.items()} for row in facts]
                    yield from compare_facts(name, storable, *self._fetch(connection, name))

    @staticmethod
    def _sheets(report: Report) -> list[Sheet]:
        return sheets_of(report, LONGEST, (REPORT, TABLES))

    @staticmethod
    def _named(report: Report) -> set[str]:
        names = [table.name for table in report.tables]
        return {REPORT, TABLES, *distinct_names(names, LONGEST, (REPORT, TABLES))}

    def _exists(self, connection: Any) -> bool:
        return connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.schema]).fetchone() is not None

    def _relations(self, connection: Any) -> dict[str, tuple[str, str | None]]:
        """Return what the schema holds: tables, views and sequences, each with its comment."""
        found = connection.execute(RELATIONS, [self.schema]).fetchall()
        return {name: (kind, comment) for name, kind, comment in found}

    def _fetch(self, connection: Any, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names and the rows of a table, in the order in which they were written."""
        table = sql.Identifier(self.schema, name)
        done = connection.execute(sql.SQL("SELECT * FROM {} ORDER BY ctid").format(table))
        return [column.name for column in done.description], done.fetchall()

    @contextmanager
    def _connected(self, doing: str) -> Iterator[Any]:
        try:
            with connect(self.url, SILENCE) as connection:
                yield connection
        except psycopg.errors.DependentObjectsStillExist:
            raise InvalidParameter(
                f"the tables in the schema {self.schema!r} cannot be replaced while views use them; drop these views, "
                "or choose another schema"
            ) from None
        except psycopg.Error as problem:
            raise InvalidParameter(
                f"{self.called!r} cannot be {doing} ({type(problem).__name__}); check the address, your rights, "
                "and that the server runs"
            ) from None


def _in_order(rows: Sequence[tuple[Any, ...]], published: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows as they were published, the changed ones in the places that are left: a table keeps no order."""
    others, known = Counter(rows), []
    for row in published:
        is_there = others[row] > 0
        others[row] -= is_there
        known.append(row if is_there else None)
    rest = others.elements()
    return [next(rest, ()) if row is None else row for row in known] + list(rest)


def _storable(cell: Any) -> Any:
    """Return a cell as PostgreSQL takes it, which has no text with a NUL in it."""
    return cell.replace("\0", "\N{SYMBOL FOR NULL}") if isinstance(cell, str) else cell
