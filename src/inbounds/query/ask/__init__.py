"""Asking: options are checked, the ledger is charged, noise is drawn once, and what was drawn is kept."""
