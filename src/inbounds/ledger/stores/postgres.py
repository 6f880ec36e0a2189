"""A ledger in PostgreSQL, through psycopg 3: the one module that knows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inbounds.ledger.stores.schema import INDEXES, TABLES, WITHIN_CAPS
from inbounds.ledger.stores.store import Failure, Row, Store
from inbounds.ledger.values.address import without_secrets
from inbounds.ledger.values.entry import LATER

try:
    import psycopg

    from inbounds.ledger.stores.postgres_connection import PatientConnection, Silent, connect
except ImportError as missing:
    raise ImportError(
        "a ledger in PostgreSQL needs psycopg, which is not installed: pip install 'inbounds[postgres]'; "
        "or give a path, for a ledger in a file"
    ) from missing

PATIENCE = 10
"""Seconds to wait for others to finish."""

SILENCE = PATIENCE + 5
"""Seconds after which a server that says nothing is given up: it would have said by then that others do not finish."""

_CREATING = 0x696E626C  # the number of the advisory lock under which tables are created

_TRIGGERS = (
    """CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'entries of a ledger are never changed'; END$$""",
    """CREATE TRIGGER ledger_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
        FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()""",
)

_OLD_CAPS = ("ledger_accounts_check", "ledger_accounts_spent_check")

_SETTINGS = (
    f"SET lock_timeout = '{PATIENCE}s'",
    f"SET idle_in_transaction_session_timeout = '{3 * PATIENCE}s'",
    # A charge is durable when it returns, whatever the server does for others; a stricter setting stays.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
)

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

_SILENT = "the server does not respond; try again when it does"

_REASONS = {
    "08": "the connection to the server was lost; try again when it is back",
    "23": "its records contradict each other; verify it",
    "25": "the server is read-only, or ended a transaction that took too long; use the primary server",
    "28": "the server refused the user or the password; check both",
    "3D": "the server has no such database; create it",
    "3F": "the server has no such schema; create it, or check the search_path",
    "42": "the user lacks a right, or the schema; grant CREATE, SELECT, INSERT and UPDATE there",
    "53": "the server has no disk, memory or connections left; make room",
    "55": "others kept it locked for too long; try again",
    "57": "the server is shutting down or starting; try again when it is back",
}


class PostgresStore(Store):
    """Tables in the first schema of the search path, created if they are not there, unless that is refused."""

    locking = " FOR UPDATE"
    place = "address"

    _trouble = psycopg.Error
    _upgrades = (
        "ALTER TABLE ledger_entries DROP CONSTRAINT IF EXISTS ledger_entries_kind_check",
        *(index.replace("INDEX ", "INDEX IF NOT EXISTS ") for index in INDEXES if "contracts" in index),
        *(f"ALTER TABLE ledger_entries ADD COLUMN {column} BIGINT" for column in LATER),
        # The old tables said that spent is at most cap, under a name that the server chose.
        *(f"ALTER TABLE ledger_accounts DROP CONSTRAINT IF EXISTS {name}" for name in _OLD_CAPS),
        "ALTER TABLE ledger_accounts ADD COLUMN rho_cap BIGINT",
        *(
            f"ALTER TABLE ledger_accounts ADD COLUMN {column} BIGINT NOT NULL DEFAULT 0"
            for column in ("spent_rho", "reserve", "spent_delta")
        ),
        f"ALTER TABLE ledger_accounts ADD {WITHIN_CAPS}",
    )
    _connection: PatientConnection | None

    def __init__(self, url: str, create: bool = True) -> None:
        super().__init__(without_secrets(url))
        self._url = url
        self._create = create
        try:
            self._prepare()
        except BaseException:
            self._disconnect()
            raise

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        yield from self._run(sql, parameters)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        return self._run(sql, parameters).rowcount

    def _run(self, sql: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor:
        try:
            return self._open_connection().execute(sql.replace("?", "%s").encode(), parameters)
        except psycopg.Error as error:
            raise Failure(_reason(error)) from None

    def _prepare(self) -> None:
        """Create what is not there, one process at a time."""
        with self.writing() if self._create else self.reading():
            if not self._has_tables():
                if not self._create:
                    raise self.no_ledger()
                self._run("SELECT pg_advisory_xact_lock(?)", (_CREATING,))
                if not self._has_tables():  # still not, now that nobody else can create them
                    for statement in (*TABLES, *_TRIGGERS):
                        self._run(statement)
                    self.created = True
            self.check_version()

    def _has_tables(self) -> bool:
        # Not to_regclass: it may remember, within a transaction, what was not there before somebody else created it.
        query = "SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'ledger_head' AND pg_table_is_visible(oid)"
        return self.row(query) is not None

    def _open_connection(self) -> PatientConnection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> PatientConnection:
        try:
            connection = connect(self._url, SILENCE, autocommit=True)
            connection.prepare_threshold = None  # a statement that was prepared does not survive an upgrade
            for setting in _SETTINGS:
                connection.execute(setting)
        except psycopg.ProgrammingError:
            why = "its URL cannot be read; write postgresql://user:password@host:port/database"
            raise Failure(why, lasting=True) from None
        except psycopg.Error:
            raise Failure("the server cannot be reached or refuses the user; check the URL and the server") from None
        return connection

    def _begin(self, write: bool) -> None:
        """Begin a transaction; if the old connection died meanwhile, on a new one."""
        begin = _WRITE if write else _READ
        if self._connection is not None:
            try:
                self._connection.execute(begin)
            except Silent:  # on a new connection it would say nothing either
                self._disconnect()
                raise Failure(_SILENT) from None
            except psycopg.Error:
                self._disconnect()
            else:
                return
        self._run(begin)

    def _commit(self) -> None:
        try:
            done = self._open_connection().execute("COMMIT").statusmessage
        except psycopg.Error as error:
            raise Failure(_reason(error), in_commit=True) from None
        if done != "COMMIT":  # the server says ROLLBACK if anything went wrong before
            raise Failure("the server dropped the transaction; try again")

    def _abandon(self) -> None:
        if self._connection is None:
            return
        try:
            if self._connection.closed:
                self._disconnect()
            elif self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._connection.execute("ROLLBACK")
        except psycopg.Error:
            self._disconnect()


def _reason(error: psycopg.Error) -> str:
    state = error.sqlstate
    if isinstance(error, Silent):
        return _SILENT
    if state is None:
        return _REASONS["08"]
    return _REASONS.get(state[:2], f"PostgreSQL failed with SQLSTATE {state}; verify the ledger")
