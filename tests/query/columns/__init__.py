"""Tests of `inbounds.query.columns`."""
