"""Tests of `inbounds.query.tables`."""
