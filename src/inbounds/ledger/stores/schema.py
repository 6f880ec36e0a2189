"""The tables of a ledger, the same in every store."""

from __future__ import annotations

from inbounds.ledger.values.entry import START

VERSION = 6
"""Rises when tables change; a ledger of a higher version is left alone, and one of a lower is used as it is, until an
entry is written that it has no place for."""

KNOWS_CONTRACTS = 2

KNOWS_DELTA = 3

KNOWS_LATE_DELTA = 4

KNOWS_RESTORES = 5

KNOWS_REFRESHES = 6
"""The versions from which on there is a place for something."""

SAME_TABLES = 3
"""From this version on the tables are what they are now: later ones have other entries in them."""

WITHIN_CAPS = """CONSTRAINT ledger_within_caps CHECK (
            spent >= 0 AND (spent <= cap OR spent_rho <= COALESCE(rho_cap, -1))
            AND spent_rho >= 0 AND spent_delta >= 0 AND spent_delta <= reserve
        )"""
"""Epsilon is within its cap or rho within its own, and delta is; what has no cap is not compared."""

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
        digest TEXT NOT NULL,
        rho BIGINT,
        delta BIGINT,
        reserved BIGINT
    )""",
    # The account of a dataset has an empty analyst, that of all periods together a space. A cap that is NULL is none.
    f"""CREATE TABLE ledger_accounts (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        cap BIGINT,
        spent BIGINT NOT NULL,
        rho_cap BIGINT,
        spent_rho BIGINT NOT NULL DEFAULT 0,
        reserve BIGINT NOT NULL DEFAULT 0,
        spent_delta BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (dataset, analyst),
        {WITHIN_CAPS}
    )""",
    "CREATE UNIQUE INDEX ledger_one_opening ON ledger_entries (dataset) WHERE kind = 'open'",
    "CREATE UNIQUE INDEX ledger_one_charge ON ledger_entries (request_id) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX ledger_one_answer ON ledger_entries (request_id) WHERE kind = 'answer'",
    "CREATE INDEX ledger_contracts ON ledger_entries (dataset, seq) WHERE kind = 'contract'",
    "CREATE INDEX ledger_refreshes ON ledger_entries (dataset, seq) WHERE kind = 'refresh'",
    f"INSERT INTO ledger_head (only_row, version, seq, digest) VALUES (1, {VERSION}, {START.seq}, '{START.digest}')",
)

LATER_INDEX = next(table for table in TABLES if "ledger_refreshes" in table).replace("INDEX", "INDEX IF NOT EXISTS", 1)
"""What tables of version 3 to 5 do not have yet."""

ENTRIES, ACCOUNTS, INDEXES = TABLES[1], TABLES[2], tuple(table for table in TABLES if " INDEX " in table)
