"""Tests of `inbounds.ledger`."""
