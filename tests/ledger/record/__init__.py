"""Tests of `inbounds.ledger.record`."""
