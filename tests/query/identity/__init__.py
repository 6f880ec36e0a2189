"""Tests of `inbounds.query.identity`."""
