"""Where a ledger is kept: SQLite or PostgreSQL, and the files of the first."""
