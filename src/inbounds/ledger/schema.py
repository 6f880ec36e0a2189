"""The tables of a ledger, the same in every store."""

from __future__ import annotations

from inbounds.ledger.entry import START

VERSION = 2
"""Rises when tables change; a ledger of a higher version is left alone, and one of a lower is used as it is, until an
entry is written that it has no place for: version 1 knew no contracts."""

TABLES = (
    """CREATE TABLE ledger_head (
        only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
        version INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        digest TEXT NOT NULL
    )""",
    """CREATE TABLE ledger_entries (
        seq INTEGER PRIMARY KEY,
        time TEXT NOT NULL,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        amount BIGINT NOT NULL,
        per_analyst BIGINT,
        request_id TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        text TEXT NOT NULL,
        previous TEXT NOT NULL,
        digest TEXT NOT NULL
    )""",
    # The account of a dataset has an empty analyst. A cap that is NULL is none.
    """CREATE TABLE ledger_accounts (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        cap BIGINT,
        spent BIGINT NOT NULL CHECK (spent >= 0 AND spent <= cap),
        PRIMARY KEY (dataset, analyst)
    )""",
    "CREATE UNIQUE INDEX ledger_one_opening ON ledger_entries (dataset) WHERE kind = 'open'",
    "CREATE UNIQUE INDEX ledger_one_charge ON ledger_entries (request_id) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX ledger_one_answer ON ledger_entries (request_id) WHERE kind = 'answer'",
    "CREATE INDEX ledger_contracts ON ledger_entries (dataset, seq) WHERE kind = 'contract'",
    f"INSERT INTO ledger_head (only_row, version, seq, digest) VALUES (1, {VERSION}, {START.seq}, '{START.digest}')",
)

ENTRIES, INDEXES = TABLES[1], tuple(table for table in TABLES if " INDEX " in table)
