"""What the server has and keeps: the custodian's file, its own database, open datasets and their ledger."""
