"""Tests of `inbounds.ledger.copies`."""
