"""Tests of `inbounds.ledger.stores`."""
