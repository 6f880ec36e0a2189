"""Tests of `inbounds.query.expressions`."""
