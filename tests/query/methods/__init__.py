"""Tests of `inbounds.query.methods`."""
