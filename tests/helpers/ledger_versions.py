"""Ledgers as earlier releases made them."""

from __future__ import annotations

from tests.helpers.ledger_places import Place

_KINDS = "CHECK (kind IN ('open', 'grant', 'charge', 'answer'))"

_ENTRIES = "seq, time, kind, dataset, analyst, amount, per_analyst, request_id, fingerprint, text, previous, digest"


def take_back(place: Place, version: int) -> None:
    """Give a ledger the tables of version 1, which knew no contracts, or of version 2, which knew no delta."""
    statements = _sqlite(version) if place.kind == "sqlite" else _postgres(version)
    for statement in (*statements, f"UPDATE ledger_head SET version = {version}"):
        place.raw(statement)


def version_of(place: Place) -> int:
    """Return the version of the tables of a ledger."""
    ((version,),) = place.raw("SELECT version FROM ledger_head")
    assert isinstance(version, int)
    return version


def _sqlite(version: int) -> list[str]:
    return [
        "CREATE TABLE old AS SELECT * FROM ledger_entries",
        "DROP TABLE ledger_entries",
        f"""CREATE TABLE ledger_entries (seq INTEGER PRIMARY KEY, time TEXT NOT NULL,
            kind TEXT NOT NULL {_KINDS if version == 1 else ""},
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, amount BIGINT NOT NULL, per_analyst BIGINT,
            request_id TEXT NOT NULL, fingerprint TEXT NOT NULL, text TEXT NOT NULL, previous TEXT NOT NULL,
            digest TEXT NOT NULL)""",
        f"INSERT INTO ledger_entries SELECT {_ENTRIES} FROM old",
        "DROP TABLE old",
        "CREATE TABLE old AS SELECT * FROM ledger_accounts",
        "DROP TABLE ledger_accounts",
        """CREATE TABLE ledger_accounts (dataset TEXT NOT NULL, analyst TEXT NOT NULL, cap BIGINT,
            spent BIGINT NOT NULL CHECK (spent >= 0 AND spent <= cap), PRIMARY KEY (dataset, analyst))""",
        "INSERT INTO ledger_accounts SELECT dataset, analyst, cap, spent FROM old",
        "DROP TABLE old",
        *(["DROP TABLE ledger_log_place"] if version == 1 else []),
    ]


def _postgres(version: int) -> list[str]:
    columns = {
        "ledger_entries": ("rho", "delta", "reserved"),
        "ledger_accounts": ("rho_cap", "spent_rho", "reserve", "spent_delta"),
    }
    return [
        "ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_within_caps",
        *(f"ALTER TABLE {table} DROP COLUMN {name}" for table, names in columns.items() for name in names),
        "ALTER TABLE ledger_accounts ADD CHECK (spent >= 0 AND spent <= cap)",
        *(
            [
                "DROP INDEX ledger_contracts",
                f"ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_kind_check {_KINDS}",
            ]
            if version == 1
            else []
        ),
    ]
