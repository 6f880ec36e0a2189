"""Copies of a ledger's file: backups, and how one takes the place of a ledger."""
