"""Tests of `inbounds.ledger.values`."""
